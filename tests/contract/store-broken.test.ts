import { describe, expect, it } from 'vitest';
import type { Store } from '../../daemon/store/store.ts';
import { openTemporary } from '../support/sqlite.ts';
import type { OpenedStore, OpenStore } from './store/fixtures.ts';
import type { Fault } from './store/memory-changes.ts';
import { openMemoryStore } from './store/memory-store.ts';
import { storeContract, storeRules } from './store.ts';

/** The first rule that a store breaks; null where it keeps all that are asked for. */
async function brokenRule(open: OpenStore, rules = storeRules): Promise<string | null> {
  for (const { name, check } of rules) {
    const opened = await open();
    const kept = await check(opened).then(
      () => true,
      () => false,
    );
    await opened.cleanup();
    if (!kept) return name;
  }
  return null;
}

const faults: Readonly<Record<Fault, true>> = {
  'skips an entry': true,
  'writes an entry for a duplicate': true,
  'keeps half of a refused commit': true,
  'ignores guards on status': true,
  'ignores guards on codes': true,
  'ignores guards on tokens': true,
  'ignores the guard of the last administrator': true,
  'leaves gaps in numbers': true,
  'leaves gaps in the journal': true,
  'one refusal undoes what came with it': true,
  'forgets at a restart': true,
  'acknowledges before it has written': true,
  'tells listeners after it acknowledges': true,
  'shows what is not committed': true,
  'takes % for a wildcard': true,
  'puts nulls first when descending': true,
  'counts the page in place of all': true,
  'forgets the actor': true,
  'takes commits after closing': true,
};

storeContract('in-memory', openMemoryStore);

describe('the suite fails a store that', () => {
  for (const fault of Object.keys(faults) as Fault[])
    it(fault, async () => {
      expect(await brokenRule(() => openMemoryStore(fault))).not.toBeNull();
    });
});

/** What each way of spoiling must be noticed by. */
const spoiled: readonly { readonly how: string; readonly rule: string; spoil(store: Store): Store['commit'] }[] = [
  {
    how: 'drops its guards',
    rule: 'of many who want the same transition at once, exactly one gets it',
    spoil: store => commit => store.commit({ ...commit, guards: [] }),
  },
  {
    how: 'writes the changes of a commit one by one',
    rule: 'a change of something that does not exist refuses the whole commit',
    spoil: store => async commit => {
      const outcomes = [];
      for (const change of commit.changes) outcomes.push(...(await store.commit({ ...commit, changes: [change] })));
      return outcomes;
    },
  },
  {
    how: 'acknowledges without waiting',
    rule: 'closing waits for what was begun; afterwards everything is refused',
    spoil: store => async commit => {
      store.commit(commit).catch(() => {});
      return commit.changes.map((_, i) => ({ kind: 'added', number: i + 1 }) as const);
    },
  },
];

describe('the suite fails the SQLite store when it', () => {
  for (const { how, rule, spoil } of spoiled)
    it(how, async () => {
      const open = async (): Promise<OpenedStore> => {
        const opened = await openTemporary();
        return { ...opened, store: { ...opened.store, commit: spoil(opened.store) } };
      };
      const rules = storeRules.filter(({ name }) => name === rule);
      expect(await brokenRule(() => openTemporary(), rules)).toBeNull();
      expect(await brokenRule(open, rules)).toBe(rule);
    });
});
