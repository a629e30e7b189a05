/** Rules about the list of provisioning requests that were refused. */
import { expect } from 'vitest';
import type { RefusedAdd } from '../../../daemon/people/refused-records.ts';
import { refusedBounds } from '../../../src/contract/limits.ts';
import { commit, type Rule, rule } from './fixtures.ts';

const refused = (count: number, from = 0): RefusedAdd => ({
  kind: 'refused.add',
  source: 'scim',
  requests: Array.from({ length: count }, (_, i) => ({ userName: `ada ${from + i}`, field: 'email', reason: 'no @' })),
});
const DAY = 86_400_000;
const T0 = 1_700_000_000_000;

export const refusedRules: readonly Rule[] = [
  rule(
    'refused requests are kept per source, the newest first and a bounded number of them',
    async ({ store, reopen }) => {
      await commit(store, [refused(2)], { at: T0 });
      await commit(store, [{ ...refused(1), source: 'directory' }], { at: T0 + 1 });
      await commit(store, [refused(1, 1)], { at: T0 + 2 });
      const again = await reopen();
      const rows = [...(await again.refusedRequests())].sort((a, b) => a.number - b.number);
      const names = rows.map(({ requests }) => requests.map(({ userName, at }) => [userName, at - T0]));
      expect(names).toEqual([
        [
          ['ada 1', 2],
          ['ada 0', 0],
        ],
        [['ada 0', 1]],
      ]);
      await commit(again, [refused(refusedBounds.kept, 10)], { at: T0 + 3 });
      const kept = (await again.refusedRequests()).find(({ number }) => number === 1)!.requests;
      expect(kept).toHaveLength(refusedBounds.kept);
      expect(kept[0]).toMatchObject({ userName: 'ada 10', at: T0 + 3 });
      await commit(again, [refused(1, 5)], { at: T0 + 3 + refusedBounds.days * DAY });
      expect((await again.refusedRequests()).find(({ number }) => number === 1)!.requests).toHaveLength(1);
    },
  ),
  rule('refused requests have one entry without names for each source in an hour', async ({ store }) => {
    for (let i = 0; i < 5; i++) await commit(store, [refused(1, i)], { at: T0 + i });
    await commit(store, [{ ...refused(1), source: 'directory' }], { at: T0 + 5 });
    // A repeated request is not reported again.
    await commit(store, [refused(1)], { at: T0 + DAY });
    await commit(store, [refused(1, 9)], { at: T0 + DAY });
    const events = await store.events({ after: 0, limit: 100 });
    expect(events.map(({ type, data, detail }) => ({ type, data, detail }))).toEqual(
      ['scim', 'directory', 'scim'].map(source => ({ type: 'PROVISIONING_REFUSED', data: { source }, detail: {} })),
    );
  }),
];
