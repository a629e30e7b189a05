import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stillMatches } from '../../daemon/devices/filters.ts';
import type { DeviceQuery } from '../../daemon/devices/queries.ts';
import { listedDevices } from '../../daemon/devices/sqlite/lists/index.ts';
import { sqlPage } from '../../daemon/devices/sqlite/lists-sql.ts';
import type { Change } from '../../daemon/store/commit.ts';
import { openReader } from '../../daemon/store/sqlite/open.ts';
import { Statements } from '../../daemon/store/sqlite/statements.ts';
import type { Store } from '../../daemon/store/store.ts';
import type { Tag, Tags } from '../../src/contract/tags.ts';
import { deviceSorts, deviceStatuses, deviceTypes } from '../../src/contract/values.ts';
import { openTemporary } from '../support/sqlite.ts';
import { addDevice, commit, numbersOf, queryOf, setDevice, sometimes, useDevice } from './store/fixtures.ts';
import { listModel } from './store/list-model.ts';

const count = 30_000;
const makers = [...Array.from({ length: 6 }, (_, i) => `Maker ${i}`), 'rare'];
const keywords = [
  'UK-',
  'uk-2026',
  '2026-1',
  '77',
  '7',
  'DEV-',
  'dev-12',
  '123',
  '-0',
  'K-2026-000',
  'zz',
  '_',
  '99999',
  'x',
  'sim',
];

const pick = <T>(values: readonly T[], n: number): T => values[n % values.length]!;

/** Two values that thousands of devices have, one that a few hundred have, and many that a few have. */
const tagsOf = (n: number): Tags => ({
  ...(n % 2 ? { lot: n % 3 ? '7' : '8' } : {}),
  ...(n % 80 === 5 ? { shelf: 'b' } : {}),
  ...(n % 5 === 0 ? { zone: String(n % 700) } : {}),
});
const tag = (name: string, value: string): Tag => ({ name, value });
const tagFilters = [
  [tag('lot', '7')],
  [tag('lot', '8'), tag('zone', '35')],
  [tag('shelf', 'b'), tag('lot', '7')],
  [tag('zone', '5')],
  [tag('lot', 'unknown')],
];

function added(from: number, to: number): Change[] {
  return Array.from({ length: to - from }, (_, i) => {
    const n = from + i;
    const serial = n % 11 === 0 ? `sim:${n}` : `UK-2026-${String((n * 7919) % 100_003).padStart(6, '0')}`;
    const manufacturer = n % 5000 === 1 ? 'rare' : makers[(n * 31) % 6]!;
    const model = `Model ${(n * 13) % 150}`;
    return addDevice(serial, { deviceType: pick(deviceTypes, n >> 2), manufacturer, model, tags: tagsOf(n) });
  });
}

/** Most devices change: half go to one user, many have equal times. */
function changed(): Change[] {
  return Array.from({ length: count }, (_, i) => i + 1).flatMap(n => {
    const changes: Change[] = [];
    const userId = n % 2 === 0 ? 'heavy' : `user-${n % 700}`;
    if (n % 4 !== 0) changes.push(setDevice(n, { status: 'ACTIVE', userId, activatedAt: (n * 7919) % 20_011 }));
    if (n % 9 === 0) changes.push(setDevice(n, { status: 'LOCKED', updatedAt: n % 7 }));
    if (n % 1000 === 0) changes.push(setDevice(n, { status: 'DEACTIVATED', updatedAt: 1_800_000_000_000 }));
    if (n % 6 === 0) changes.push(useDevice(n, 1));
    return changes;
  });
}

async function inBatches(store: Store, changes: readonly Change[], size = 5000): Promise<void> {
  for (let i = 0; i < changes.length; i += size)
    await commit(store, changes.slice(i, i + size), { at: 1_700_000_000_000 + i });
}

const maybe = <T>(values: readonly T[]) => sometimes(fc.constantFrom(...values));
const bound = (...times: readonly number[]) => sometimes(fc.constantFrom(...times));
const timeFilters = {
  serialNumber: sometimes(fc.constantFrom('unknown', 'S-1')),
  createdFrom: bound(0, 1_700_000_000_000, 1_700_000_005_000),
  createdTo: bound(1_700_000_005_000, 1_700_000_010_000),
  lastUsedBefore: bound(0, 5000, 15_000, 1_800_000_000_000),
  codeExpiresBefore: bound(0, 2_000_000_000_000, 3_000_000_000_000),
};
const queries = fc.record({
  sortBy: fc.constantFrom(...deviceSorts),
  descending: fc.boolean(),
  offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: count })),
  limit: fc.constantFrom(1, 20, 100),
  deviceType: sometimes(fc.subarray([...deviceTypes], { minLength: 1 })),
  status: sometimes(fc.subarray([...deviceStatuses], { minLength: 1 })),
  ...timeFilters,
  manufacturer: maybe([...makers, 'unknown']),
  model: maybe(['Model 7', 'Model 149', 'unknown']),
  userId: maybe(['heavy', 'user-1', 'user-699', 'unknown']),
  keyword: maybe(keywords),
  tags: maybe(tagFilters),
});

describe('lists from memory agree with plain SQL', () => {
  let opened: Awaited<ReturnType<typeof openTemporary>>;
  let sql: Statements;
  let total = count;

  beforeAll(async () => {
    opened = await openTemporary();
    await inBatches(opened.store, added(1, count + 1));
    await inBatches(opened.store, changed());
    const reader = openReader(opened.file);
    sql = new Statements(reader);
  });
  afterAll(async () => {
    sql.db.close();
    await opened.cleanup();
  });

  const agree = async (store: Store, query: DeviceQuery) => {
    const found = await store.devices(query);
    expect({ query, total: found.total, numbers: numbersOf(found.rows) }).toEqual({ query, ...sqlPage(sql, query) });
  };

  it('with any filters and any order, on any page', async () => {
    await opened.store.listsReady;
    await fc.assert(
      fc.asyncProperty(queries, query => agree(opened.store, query)),
      { numRuns: 200 },
    );
  });

  it('and a row that was read still matches exactly if a list of it alone has it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: count }), queries, async (number, { keyword, ...query }) => {
        const device = (await opened.store.device(number))!;
        expect(stillMatches(device, query)).toBe(listModel([device], query).total === 1);
      }),
      { numRuns: 500 },
    );
  });

  it('during commits', async () => {
    const device = fc.integer({ min: 1, max: count });
    const step = fc.record({
      device,
      status: fc.constantFrom(...deviceStatuses),
      userId: fc.constantFrom('heavy', 'user-1', null),
      tags: fc.nat(100).map(tagsOf),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.integer({ min: 0, max: 30 }),
        queries,
        async (steps, more, query) => {
          const { store } = opened;
          const sets = steps.map(({ device, ...set }) => setDevice(device, { ...set, updatedAt: total }));
          await commit(store, [...added(total + 1, total + 1 + more), ...sets]);
          total += more;
          await agree(store, query);
        },
      ),
      { numRuns: 80, endOnFailure: true },
    );
  });

  it('and return only matching rows if the store changes at the same time', async () => {
    const store = await opened.reopen({ sliceMs: 0 });
    await store.listsReady;
    let going = true;
    const flips = (async () => {
      for (let n = 1; going; n = (n % 2000) + 1)
        await commit(store, [
          setDevice(n, {
            status: n % 2 ? 'ACTIVE' : 'LOCKED',
            userId: n % 3 ? 'heavy' : 'user-1',
            tags: tagsOf(n % 7 ? 1 : 2),
          }),
        ]);
    })();
    for (let i = 0; i < 30; i++) {
      const query = queryOf({
        sortBy: pick(['updatedAt', 'model', 'serialNumber', 'createTime'], i),
        status: ['ACTIVE'],
        userId: 'heavy',
        descending: false,
        ...(i % 2 ? { keyword: '2' } : {}),
        ...(i % 3 ? { tags: [tag('lot', '7')] } : {}),
      });
      const { rows } = await store.devices(query);
      expect(rows.filter(row => row.status !== 'ACTIVE' || row.userId !== 'heavy')).toEqual([]);
      if (i % 3) expect(rows.filter(row => row.tags.lot !== '7')).toEqual([]);
      expect(new Set(numbersOf(rows)).size).toBe(rows.length);
    }
    going = false;
    await flips;
    await agree(store, queryOf({ status: ['ACTIVE'], userId: 'heavy' }));
    await agree(store, queryOf({ tags: [tag('lot', '7')] }));
  });

  it('right after a start, while the memory is being filled, during commits', async () => {
    const store = await opened.reopen();
    const asked = [
      queryOf({ sortBy: 'model', status: ['LOCKED'] }),
      queryOf({ userId: 'heavy' }),
      queryOf({ keyword: 'dev-12' }),
      queryOf({ tags: [tag('lot', '8')] }),
    ];
    for (let i = 0; i < 12; i++) {
      await commit(store, [
        setDevice(1 + i * 2500, { status: 'LOCKED', userId: 'heavy', tags: tagsOf(3) }),
        ...added(total + 1, total + 4),
      ]);
      total += 3;
      await agree(store, asked[i % asked.length]!);
    }
    await store.listsReady;
    for (const query of asked) await agree(store, query);
    await agree(store, queryOf({ sortBy: 'serialNumber', limit: 100, offset: total - 60 }));
  });

  it('after more devices were added than are merged into an order', async () => {
    const store = await opened.reopen();
    await store.listsReady;
    await inBatches(store, added(total + 1, total + 12_001));
    total += 12_000;
    for (const offset of [0, 17_000, total - 10]) await agree(store, queryOf({ sortBy: 'serialNumber', offset }));
    await agree(store, queryOf({ keyword: 'sim:4' }));
    // The random changes of these devices have entries of no real operation: only the counters and the chain are compared.
    const ofRows = /^journal: (DEV-|the (owner|tags) of DEV-)/;
    expect((await opened.check()).problems.filter(text => !ofRows.test(text))).toEqual([]);
  });
});

describe('lists from memory that fail', () => {
  it('are replaced by plain SQL, with a log line', async () => {
    const opened = await openTemporary();
    await commit(opened.store, added(1, 50));
    const reader = openReader(opened.file);
    const notices: string[] = [];
    const lists = listedDevices(new Statements(reader), { notice: text => notices.push(text) });
    await lists.ready;
    const before = await lists.list(queryOf({ sortBy: 'model' }));
    lists.apply({ added: [null as never], changed: [] });
    expect(notices).toEqual([expect.stringMatching(/^lists of devices come from plain SQL/)]);
    const device = (await opened.store.device(3))!;
    await commit(opened.store, [setDevice(3, { status: 'LOCKED' })]);
    lists.apply({ added: [], changed: [{ before: device, after: { ...device, status: 'LOCKED' } }] });
    expect(await lists.list(queryOf({ sortBy: 'model', status: ['INACTIVE'] }))).toEqual({
      total: 48,
      rows: before.rows.filter(row => row.number !== 3),
    });
    await lists.close();
    reader.close();
    await opened.cleanup();
  });
});
