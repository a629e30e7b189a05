import fc from 'fast-check';
import { expect } from 'vitest';
import type { DeviceFilter, Tally } from '../../../daemon/devices/queries.ts';
import type { DeviceRecord } from '../../../daemon/devices/records.ts';
import type { Change } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { type ProofGrade, proofGrades } from '../../../src/contract/key-values.ts';
import { searchWords } from '../../../src/contract/search-words.ts';
import { deviceStatuses } from '../../../src/contract/values.ts';
import { addDevice, commit, queryOf, type Rule, rule, setDevice, useDevice } from './fixtures.ts';
import { talliesOf } from './list-model.ts';
import { agree, all } from './list-rules.ts';
import { answerOf, proveDevice, textOf } from './proof-rules.ts';

const day = 86_400_000;
const start = Date.now();
const lot = (value: string) => ({ name: 'lot', value });
const aaguid = '11111111-2222-4333-8444-555555555555';

const filters: readonly DeviceFilter[] = [
  { tags: [lot('7')] },
  { tags: [lot('7'), { name: 'zone', value: 'a' }] },
  { tags: [lot('8')], status: ['ACTIVE', 'LOCKED'] },
  { userId: 'alice', tags: [lot('7')] },
  { proof: ['model'] },
  { proof: ['none', 'unit'] },
  { proof: ['model', 'claimed'], status: ['ACTIVE'] },
  { aaguid, tags: [lot('8')] },
  { advisory: 'YSA-2024-03', userId: 'bob' },
  { keyword: 's-1' },
  { keyword: 'dev-1', status: ['ACTIVE'] },
  { keyword: 'dev-1', createdFrom: start },
  { createdTo: start + 3 * day, manufacturer: 'Feitian', status: ['INACTIVE'] },
  { model: 'ePass K9', status: ['ACTIVE'] },
  ...['lot:7', 'alice', 'FEITIAN', 's-1 lot:', 'person:o tag:zone', '7'].map(text => ({ search: searchWords(text) })),
  { search: searchWords('bob'), status: ['ACTIVE'] },
];
/** Other bounds at each step, as those that follow the clock. */
const moving = (bound: number): readonly DeviceFilter[] => [
  { lastUsedBefore: bound },
  { lastUsedBefore: bound, status: ['ACTIVE'] },
  { lastUsedBefore: bound, codeExpiresBefore: start + 4 * day },
  { codeExpiresBefore: bound },
  { codeExpiresBefore: bound, tags: [lot('7')] },
];

const time = fc.integer({ min: -12, max: 4 }).map(days => start + days * day);
const device = fc.integer({ min: 1, max: 30 });
const proofOf = (grade: ProofGrade, isAffected: boolean) =>
  textOf(answerOf(`P-${grade}`, 'S'), grade, isAffected ? ['YSA-2024-03'] : []);
const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(device, fc.constantFrom(...deviceStatuses)).map(([n, status]) => setDevice(n, { status })),
  fc.tuple(device, fc.constantFrom('alice', 'bob', null)).map(([n, userId]) => setDevice(n, { userId })),
  fc.tuple(device, time).map(([n, at]) => setDevice(n, { activatedAt: at })),
  fc.tuple(device, time).map(([n, at]) => setDevice(n, { activationCodeExpiresAt: at })),
  fc
    .tuple(device, fc.constantFrom('7', '8'), fc.boolean())
    .map(([n, value, isZoned]) => setDevice(n, { tags: { lot: value, ...(isZoned ? { zone: 'a' } : {}) } })),
  device.map(n => setDevice(n, { tags: {} })),
  fc
    .tuple(device, fc.constantFrom(...proofGrades.slice(1)), fc.boolean())
    .map(([n, grade, isAffected]) => proveDevice(n, proofOf(grade, isAffected))),
  device.map(n => useDevice(n, 1)),
);
const steps = fc.record({
  changes: fc.array(changes, { maxLength: 4 }),
  added: fc.integer({ min: 0, max: 2 }),
  at: time,
  bound: time,
  handle: fc.nat(1),
  page: fc.record({
    limit: fc.constantFrom(3, 200),
    offset: fc.constantFrom(0, 0, 3),
    descending: fc.boolean(),
  }),
});

/** Rules about totals, and beginnings of pages, that a store may remember. */
export const totalRules: readonly Rule[] = [
  rule(
    'pages and totals that are asked for again are exact, whatever was changed and through any handle',
    async opened => {
      const other = await opened.openAnother?.();
      const handles = [opened.store, other ?? opened.store];
      let count = 0;
      const added = (n: number) =>
        addDevice(`s-${n}`, {
          tags: n % 3 === 0 ? { lot: '7' } : {},
          proof: n % 4 === 0 ? proofOf('model', n % 8 === 0) : null,
          activationCodeExpiresAt: start + ((n % 9) - 4) * day,
        });
      const addAll = (devices: number, at: number): Promise<unknown> =>
        commit(
          opened.store,
          Array.from({ length: devices }, () => added(++count)),
          { at },
        );
      await addAll(60, start - 5 * day);
      await fc.assert(
        fc.asyncProperty(steps, async ({ changes, added, at, bound, handle, page }) => {
          if (added > 0) await addAll(added, at);
          if (changes.length > 0) await commit(handles[1 - handle]!, changes, { at });
          const devices = await all(opened.store, count);
          for (const filter of [...filters, ...moving(bound)])
            await agree(handles[handle]!, devices, queryOf({ ...filter, ...page }));
          await countsAgree(handles[handle]!, devices, bound);
        }),
        { numRuns: 40, endOnFailure: true },
      );
      await other?.close();
    },
  ),
];

async function countsAgree(store: Store, devices: readonly DeviceRecord[], bound: number): Promise<void> {
  const query = {
    since: 0,
    codesExpireAfter: bound - day,
    codesExpireBy: bound + day,
    codesDueBy: bound,
    unusedSince: bound,
  };
  const { codesExpiring, codesDue, unused, tallies } = await store.statistics(query);
  const isExpiring = ({ status, activationCodeExpiresAt: at }: DeviceRecord) =>
    status === 'INACTIVE' && at > query.codesExpireAfter && at <= query.codesExpireBy;
  const isUnused = ({ status, lastUsedAt, activatedAt }: DeviceRecord) =>
    status === 'ACTIVE' && (lastUsedAt ?? activatedAt ?? Number.POSITIVE_INFINITY) < bound;
  expect(sorted(tallies.filter(({ subject }) => subject !== 'day'))).toEqual(sorted(talliesOf(devices)));
  expect({ codesExpiring, codesDue, unused }).toEqual({
    codesDue: devices.filter(device => device.status === 'INACTIVE' && device.activationCodeExpiresAt <= bound).length,
    codesExpiring: devices.filter(isExpiring).length,
    unused: devices.filter(isUnused).length,
  });
}

const sorted = (tallies: readonly Tally[]) => tallies.map(tally => JSON.stringify(tally)).sort();
