import { describe, expect, it } from 'vitest';
import type { Store } from '../../daemon/store/store.ts';
import { openTemporary } from '../support/sqlite.ts';
import { clusterRules } from './store/cluster-rules.ts';
import type { OpenedStore, OpenStore, Rule } from './store/fixtures.ts';
import { listRules } from './store/list-rules.ts';
import type { ClusterFault, Fault } from './store/memory-changes.ts';
import { openMemoryStore } from './store/memory-store.ts';
import { readRules } from './store/read-rules.ts';
import { totalRules } from './store/total-rules.ts';
import { clusterContract, storeContract, storeRules } from './store.ts';

/** Rules with thousands of entries and devices. A fault that breaks another rule is found without them. */
const largeRules = [...readRules, ...listRules, ...totalRules];
const smallFirst = [...storeRules.filter(rule => !largeRules.includes(rule)), ...largeRules];

/** The first rule that a store breaks; null if it keeps all of them. */
async function brokenRule(open: OpenStore, rules: readonly Rule[] = smallFirst): Promise<string | null> {
  for (const { name, check } of rules) {
    const opened = await open();
    const holds = await check(opened).then(
      () => true,
      () => false,
    );
    await opened.cleanup();
    if (!holds) return name;
  }
  return null;
}

const faults: Readonly<Record<Exclude<Fault, ClusterFault>, true>> = {
  'skips an entry': true,
  'writes an entry for a duplicate': true,
  'keeps part of a refused commit': true,
  'ignores guards on status': true,
  'ignores guards on codes': true,
  'ignores guards on tokens': true,
  'ignores guards on fields': true,
  'ignores the caller': true,
  'ignores the role of the caller': true,
  'ignores the guard of the last administrator': true,
  'leaves gaps in numbers': true,
  'leaves gaps in the journal': true,
  'a refusal undoes other commits': true,
  'forgets at a restart': true,
  'acknowledges before it writes': true,
  'calls listeners after it acknowledges': true,
  'shows uncommitted changes': true,
  'treats % as a wildcard': true,
  'puts nulls first when descending': true,
  'counts the page instead of the list': true,
  'leaves loans open': true,
  'announces loans twice': true,
  'forgets the actor': true,
  'accepts commits after closing': true,
  'stores a response without the changes': true,
  'overwrites a stored response': true,
  'keeps expired responses': true,
  'keeps every large response': true,
  'ignores guards on documents': true,
  'keeps the PIN of a retired device': true,
  'ignores guards on answers': true,
  'ignores the version of a progress': true,
  'ignores the version of sessions': true,
  'keeps the progress of removed webhooks': true,
  'ignores how a passkey was used': true,
  'ignores guards on passkeys': true,
  'ignores guards on owners': true,
  'ignores the version of a person': true,
  'leaves devices of a leaver active': true,
  'binds no new device': true,
  'stores an answer twice': true,
  'stores an answer beside its device': true,
  'keeps every answer': true,
};

const clusterFaults: Readonly<Record<ClusterFault, true>> = {
  'commits without a lock': true,
  'writes over other handles': true,
  'guards what it wrote itself': true,
  'reads what it wrote itself': true,
  'shows entries out of order': true,
  'keeps commits from other handles': true,
  'hides users from other handles': true,
};

storeContract('in-memory', openMemoryStore);
clusterContract('in-memory', openMemoryStore);

describe('the suite fails a store that', () => {
  for (const fault of Object.keys(faults) as Fault[])
    it(fault, async () => {
      expect(await brokenRule(() => openMemoryStore(fault))).not.toBeNull();
    });
});

describe('the cluster part of the suite fails a store that', () => {
  for (const fault of Object.keys(clusterFaults) as ClusterFault[])
    it(fault, async () => {
      const rules = clusterRules.map(rule => ({ ...rule, check: inTime(rule.check) }));
      expect(await brokenRule(() => openMemoryStore(fault), rules)).not.toBeNull();
    });
});

/** A rule that waits for a notice would wait for ever: a store in memory sends it in the next turn. */
const inTime =
  (check: Rule['check']): Rule['check'] =>
  opened =>
    Promise.race([
      check(opened),
      new Promise<never>((_, reject) => setTimeout(reject, 2000, new Error('no notice')).unref()),
    ]);

/** Faulty versions of the SQLite store, and the rule that must detect each. */
const faulty: readonly { readonly how: string; readonly rule: string; break(store: Store): Store['commit'] }[] = [
  {
    how: 'drops its guards',
    rule: 'of many commits of the same transition at once, exactly one succeeds',
    break: store => commit => store.commit({ ...commit, guards: [] }),
  },
  {
    how: 'writes the changes of a commit one by one',
    rule: 'a change of a record that does not exist refuses the whole commit',
    break: store => async commit => {
      const results = [];
      for (const change of commit.changes) results.push(...(await store.commit({ ...commit, changes: [change] })));
      return results;
    },
  },
  {
    how: 'acknowledges without waiting',
    rule: 'closing waits for running commits; later ones are refused',
    break: store => async commit => {
      store.commit(commit).catch(() => {});
      return commit.changes.map((_, i) => ({ kind: 'added', number: i + 1 }) as const);
    },
  },
];

describe('the suite fails the SQLite store when it', () => {
  for (const { how, rule, break: breakStore } of faulty)
    it(how, async () => {
      const open = async (): Promise<OpenedStore> => {
        const opened = await openTemporary();
        return { ...opened, store: { ...opened.store, commit: breakStore(opened.store) } };
      };
      const rules = storeRules.filter(({ name }) => name === rule);
      expect(await brokenRule(() => openTemporary(), rules)).toBeNull();
      expect(await brokenRule(open, rules)).toBe(rule);
    });
});
