import { expect } from 'vitest';
import { registeredLater } from '../../../daemon/devices/decisions.ts';
import type { Change, ChangeResult, Commit } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { queryOf } from './fixtures.ts';
import { applyChange, checkGuard, empty } from './memory-changes.ts';

/** A commit that a handle has acknowledged. */
export interface Acknowledged {
  readonly commit: Commit;
  readonly results: readonly ChangeResult[];
}

/** The entries that a commit has written: one for each change but duplicates and uses of tokens. */
export const entriesOf = ({ commit, results }: Acknowledged): readonly Change[] =>
  commit.changes.filter((change, i) => results[i]!.kind !== 'duplicate' && change.kind !== 'token.use');

/**
 * Replays the acknowledged commits in the order of the journal, one after the other: guards must hold, results and content must
 * come out the same. So the order of the journal is the order of the commits, whichever handles they came through. Each commit
 * has a request id of its own.
 */
export async function expectSerial(store: Store, acknowledged: readonly Acknowledged[]): Promise<void> {
  const events = await store.events({ after: 0, limit: 100_000 });
  expect(events.map(event => event.id)).toEqual(events.map((_, i) => i + 1));
  const order = [...new Set(events.map(event => event.requestId))];
  const writing = new Map(
    acknowledged.filter(one => entriesOf(one).length > 0).map(one => [one.commit.requestId, one] as const),
  );
  expect(new Set(order)).toEqual(new Set(writing.keys()));
  const content = empty();
  for (const requestId of order) {
    const { commit, results } = writing.get(requestId)!;
    // Not what was asked for: a store with several handles raises times.
    const { at } = events.find(event => event.requestId === requestId)!;
    for (const guard of commit.guards ?? []) checkGuard(content, guard, undefined);
    const by = at - commit.at;
    const replayed = commit.changes.map(change =>
      applyChange(content, raisedBy(change, by), { ...commit, at }, undefined),
    );
    const raised = at === commit.at ? {} : { at };
    const hasTime = ({ kind }: ChangeResult) => kind === 'added' || kind === 'used';
    expect(results).toEqual(replayed.map(result => (hasTime(result) ? { ...result, ...raised } : result)));
  }
  expect(events).toEqual(content.events);
  const { length: total } = content.devices;
  expect(await Promise.all(content.devices.map(({ number }) => store.device(number)))).toEqual(content.devices);
  expect((await store.devices(queryOf({ limit: 1 }))).total).toBe(total);
  expect(await store.users({ descending: false, offset: 0, limit: 100 })).toEqual({
    rows: content.users,
    total: content.users.length,
  });
}

const raisedBy = (change: Change, by: number): Change =>
  change.kind === 'device.add' && by > 0 ? registeredLater(change, by) : change;
