import fc from 'fast-check';
import { expect } from 'vitest';
import type { DeviceFilter, DeviceQuery } from '../../../daemon/devices/queries.ts';
import type { DeviceRecord } from '../../../daemon/devices/records.ts';
import type { Change } from '../../../daemon/store/commit.ts';
import type { Store } from '../../../daemon/store/store.ts';
import { searchWords } from '../../../src/contract/search-words.ts';
import type { Tags } from '../../../src/contract/tags.ts';
import { deviceSorts, deviceStatuses, deviceTypes } from '../../../src/contract/values.ts';
import { addDevice, commit, numbersOf, queryOf, type Rule, rule, setDevice, sometimes, useDevice } from './fixtures.ts';
import { listModel } from './list-model.ts';

const makers = ['Feitian', 'feitian', 'Yubico', 'Æon', '\u{1F511}key', '\uFF21', 'A%_'];
const users = ['alice', 'bob', 'USR-1'];

/** `lot` has a frequent and a rare value; the names and values of the others look alike. */
function tagsOf(n: number): Tags {
  const lot: Tags = n % 4 === 0 ? {} : { lot: n % 40 === 1 ? 'rare' : '7' };
  return { ...(n % 9 === 2 ? { 'lot-7': ':' } : {}), ...lot, ...(n % 5 === 3 ? { shelf: '7' } : {}) };
}
const tagFilters = [
  [{ name: 'lot', value: '7' }],
  [{ name: 'lot', value: 'rare' }],
  [
    { name: 'lot', value: '7' },
    { name: 'shelf', value: '7' },
  ],
  [
    { name: 'lot', value: '7' },
    { name: 'lot', value: 'rare' },
  ],
  [{ name: 'lot-7', value: ':' }],
  [{ name: 'lot', value: 'unknown' }],
  [{ name: 'unknown', value: '7' }],
] as const;

const models = ['K9', 'k1', 'Z'];

/** Devices of every kind: ties, nulls, times that run backwards, similar serial numbers. */
async function fill(store: Store, count = 240): Promise<DeviceRecord[]> {
  const pick = <T>(values: readonly T[], i: number): T => values[(i * 7919 + (i >> 3)) % values.length]!;
  for (let i = 0; i < count; i += 40) {
    const changes = Array.from({ length: 40 }, (_, j) => {
      const n = i + j;
      const serial = `${pick(['UK-', 'sim_', 'X/', ''], n)}${(n * 48_271) % 10_007}${pick(['', 'a', 'B%', ':9'], n + 1).replace('%', '.')}-${n}`;
      const rest = {
        deviceType: pick(deviceTypes, n),
        manufacturer: pick(makers, n),
        model: pick(models, n),
        tags: tagsOf(n),
      };
      return addDevice(serial, rest);
    });
    await commit(store, changes, { at: 1000 + ((i * 31) % 200) });
  }
  const changes: Change[] = [];
  for (let n = 1; n <= count; n++) {
    if (n % 3 === 0)
      changes.push(setDevice(n, { status: 'ACTIVE', userId: pick(users, n), activatedAt: (n * 37) % 50 }));
    if (n % 5 === 0) changes.push(setDevice(n, { status: 'LOCKED', updatedAt: (n * 11) % 30 }));
    if (n % 11 === 0) changes.push(setDevice(n, { status: 'DEACTIVATED', userId: null }));
    if (n % 4 === 0) changes.push(useDevice(n, 1));
    if (n % 6 === 0) changes.push(setDevice(n, { tags: tagsOf(n + 5) }));
    if (n % 7 === 0) changes.push(setDevice(n, { activationCodeExpiresAt: 1_900_000_000_000 + (n % 9) }));
  }
  for (let i = 0; i < changes.length; i += 25) await commit(store, changes.slice(i, i + 25), { at: 5000 - i });
  return all(store, count);
}

/** The first devices, in the order of their numbers. */
export const all = async (store: Store, count: number): Promise<DeviceRecord[]> =>
  (await Promise.all(Array.from({ length: count }, (_, i) => store.device(i + 1)))) as DeviceRecord[];

/** Fails unless the page and its total are those of the model. */
export async function agree(
  store: Store,
  devices: readonly DeviceRecord[],
  query: DeviceQuery,
  names?: Parameters<typeof listModel>[2],
): Promise<void> {
  const found = await store.devices(query);
  const wanted = listModel(devices, query, names);
  expect({ query, total: found.total, numbers: numbersOf(found.rows) }).toEqual({
    query,
    total: wanted.total,
    numbers: numbersOf(wanted.rows),
  });
  expect(found.rows.map(row => ({ ...row }))).toEqual(wanted.rows);
}

const maybe = <T>(values: readonly T[]) => sometimes(fc.constantFrom(...values));
const keywords = [
  '',
  'DEV-',
  'dev-1',
  'EV-2',
  '-1',
  '1',
  '12',
  '00',
  'UK-',
  'uk',
  'K',
  '_',
  '%',
  'B.',
  'm_4',
  'nothing',
  '-23',
  'İ',
  'v-9',
];
const searches = [
  'lot:7',
  'FEITIAN',
  'æo k9',
  'maker:feit',
  'person:ali',
  'uk-',
  '7',
  'tag:lot-7::',
  'dev-1 usr-1',
  'rare',
  'nothing',
];
/** Bounds among the times that devices have, and beyond them. */
const bound = (...times: readonly number[]) => sometimes(fc.constantFrom(...times));
const timeFilters = {
  serialNumber: sometimes(fc.constantFrom('unknown', 'N80', 'N81')),
  createdFrom: bound(0, 1000, 1050, 1100, 5000),
  createdTo: bound(1000, 1100, 1199, 6000),
  lastUsedBefore: bound(0, 20, 4990, 4995, 9000),
  codeExpiresBefore: bound(0, 1_900_000_000_003, 2_000_000_000_000, 3_000_000_000_000),
};
const queries = fc.record({
  sortBy: fc.constantFrom(...deviceSorts),
  descending: fc.boolean(),
  offset: fc.constantFrom(0, 1, 7, 50, 238, 240, 1000),
  limit: fc.constantFrom(1, 20, 100),
  deviceType: sometimes(fc.subarray([...deviceTypes], { minLength: 1 })),
  status: sometimes(fc.subarray([...deviceStatuses], { minLength: 1 })),
  ...timeFilters,
  manufacturer: maybe([...makers, 'unknown']),
  model: maybe([...models, 'unknown']),
  userId: maybe([...users, 'unknown']),
  keyword: maybe(keywords),
  tags: sometimes(fc.constantFrom(...tagFilters)),
  search: maybe(searches.map(searchWords)),
});

/** Rules about lists of devices. */
export const listRules: readonly Rule[] = [
  rule('every sort in both directions puts nulls last and sorts ties by number', async ({ store }) => {
    const devices = await fill(store);
    for (const sortBy of deviceSorts)
      for (const descending of [true, false])
        for (const offset of [0, 110]) await agree(store, devices, queryOf({ sortBy, descending, offset }));
  }),

  rule('every single filter finds what it names, with every sort', async ({ store }) => {
    const devices = await fill(store);
    const filters = [
      ...deviceTypes.map(deviceType => ({ deviceType: [deviceType] })),
      ...deviceStatuses.map(status => ({ status: [status] })),
      { status: ['ACTIVE', 'LOCKED'], deviceType: ['SIMKEY', 'UKEY'] } as const,
      { serialNumber: devices[7]!.serialNumber },
      { serialNumber: 'unknown' },
      { createdFrom: 1040, createdTo: 1130 },
      { lastUsedBefore: 40 },
      { codeExpiresBefore: 1_900_000_000_005 },
      ...[...makers, 'unknown'].map(manufacturer => ({ manufacturer })),
      ...[...models, 'unknown'].map(model => ({ model })),
      ...[...users, 'unknown'].map(userId => ({ userId })),
      ...keywords.map(keyword => ({ keyword })),
      ...tagFilters.map(tags => ({ tags })),
    ];
    for (const filter of filters)
      for (const sortBy of ['createTime', 'serialNumber', 'lastUsedAt', 'status'] as const)
        await agree(store, devices, queryOf({ ...filter, sortBy, limit: 30 }));
  }),

  rule('a keyword finds only texts that have all of it in one piece', async ({ store }) => {
    const serials = [
      'AB-2026-1F2E3D4C',
      'ab-2026-3d4c',
      'abcdef',
      'abc-cdef',
      'abc_cdef',
      '2026-1f2e3d4d',
      'x4c-1F2E3D-2026',
    ];
    await commit(
      store,
      serials.map(serial => addDevice(serial)),
    );
    const devices = await all(store, serials.length);
    const words = [
      'ab-2026-1f2e3d4c',
      '1F2E3D4C',
      'abcdef',
      'ABC_cdef',
      '2026-',
      '26-1f2e3d',
      '1f2e3d-2026',
      'dev-1\nab',
      '2e3d4',
    ];
    for (const keyword of [...serials, ...words])
      for (const part of [{}, { status: ['INACTIVE'] }, { sortBy: 'serialNumber' }] as const)
        await agree(store, devices, queryOf({ keyword, ...part }));
  }),

  rule('a scan returns every match once, by number, as of one moment', async ({ store }) => {
    const devices = await fill(store);
    const filters = [
      {},
      { status: ['LOCKED'] },
      { keyword: 'uk' },
      { lastUsedBefore: 4990 },
      { search: searchWords('lot:7 K9') },
    ] as const;
    for (const filter of [...filters, ...tagFilters.map(tags => ({ tags }))]) {
      const found: number[] = [];
      const scan = store.scanDevices(filter);
      for await (const rows of scan) {
        found.push(...numbersOf(rows));
        await commit(store, [addDevice(`during-${Math.random()}`)]);
      }
      const wanted = listModel(devices, queryOf({ ...filter, sortBy: 'deviceId', descending: false, limit: 1000 }));
      expect(found.filter(number => number <= devices.length)).toEqual(numbersOf(wanted.rows));
      const newestFirst: number[] = [];
      for await (const rows of store.scanDevices(filter, { descending: true })) newestFirst.push(...numbersOf(rows));
      expect(newestFirst.filter(number => number <= devices.length)).toEqual(numbersOf(wanted.rows).toReversed());
    }
    const moment = store.scanDevices({});
    await moment.next();
    await commit(store, [addDevice('later')]);
    for await (const rows of moment) expect(rows.map(row => row.serialNumber)).not.toContain('later');
  }),

  rule('a scan names the tags of the matches, as of the same moment', async ({ store }) => {
    const devices = await fill(store);
    const scan = async (filter: DeviceFilter, limit = 100) => {
      let names: readonly string[] | null = null;
      const batches = store.scanDevices(filter, { tagNames: { limit, found: found => (names = found) } });
      const first = await batches.next();
      await batches.return();
      return [names, first.done ? 0 : first.value.length > 0] as const;
    };
    expect(await scan({})).toEqual([['lot', 'lot-7', 'shelf'], true]);
    expect(await scan({}, 1)).toEqual([['lot', 'lot-7'], true]);
    const untagged = devices.find(device => Object.keys(device.tags).length === 0)!;
    expect((await scan({ serialNumber: untagged.serialNumber }))[0]).toEqual([]);
    const tagged = devices.find(({ tags }) => Object.keys(tags).join() === 'lot,shelf')!;
    expect((await scan({ serialNumber: tagged.serialNumber }))[0]).toEqual(['lot', 'shelf']);
    expect((await scan({ serialNumber: tagged.serialNumber }, 0))[0]).toEqual(['lot']);
    await commit(store, [setDevice(tagged.number, { tags: { zone: 'z' } })]);
    expect((await scan({}))[0]).toEqual(['lot', 'lot-7', 'shelf', 'zone']);
  }),

  rule('statistics agree with the devices, also right after a commit', async ({ store }) => {
    const devices = await fill(store);
    const query = {
      since: 0,
      codesExpireAfter: 1_900_000_000_001,
      codesExpireBy: 1_900_000_000_006,
      codesDueBy: 1_900_000_000_004,
      unusedSince: 4990,
    };
    const count = (is: (device: DeviceRecord) => boolean) => devices.filter(is).length;
    const found = await store.statistics(query);
    for (const status of deviceStatuses)
      for (const deviceType of deviceTypes)
        for (const manufacturer of makers)
          expect(
            found.counts
              .filter(
                row => row.status === status && row.deviceType === deviceType && row.manufacturer === manufacturer,
              )
              .reduce((sum, row) => sum + row.count, 0),
          ).toBe(
            count(
              device =>
                device.status === status && device.deviceType === deviceType && device.manufacturer === manufacturer,
            ),
          );
    expect(found.registrations).toEqual(new Map([[0, devices.length]]));
    const { codesExpireAfter, codesExpireBy, unusedSince } = query;
    expect(found.codesExpiring).toBe(
      count(
        ({ status, activationCodeExpiresAt: at }) =>
          status === 'INACTIVE' && at > codesExpireAfter && at <= codesExpireBy,
      ),
    );
    expect(found.codesExpiring).toBeGreaterThan(0);
    expect(found.codesDue).toBe(
      count(({ status, activationCodeExpiresAt: at }) => status === 'INACTIVE' && at <= query.codesDueBy),
    );
    expect(found.codesDue).toBeGreaterThan(0);
    expect(found.unused).toBe(
      count(
        ({ status, lastUsedAt, activatedAt }) =>
          status === 'ACTIVE' && (lastUsedAt ?? activatedAt ?? Number.POSITIVE_INFINITY) < unusedSince,
      ),
    );
    expect(found.unused).toBeGreaterThan(0);
    const hour = 3_600_000;
    await commit(store, [addDevice('X'), addDevice('Y')], { at: 3 * hour + 5 });
    expect((await store.statistics({ ...query, since: hour })).registrations).toEqual(new Map([[3 * hour, 2]]));
  }),

  rule('statistics have the devices that came into each state and left it, by day', async ({ store }) => {
    const day = 86_400_000;
    await commit(store, [addDevice('A'), addDevice('B')], { at: 5 * day - 1 });
    const activated = { ...setDevice(1, { status: 'ACTIVE' }), entry: { type: 'DEVICE_ACTIVATED' } } as const;
    await commit(store, [activated], { at: 5 * day });
    const locked = setDevice(1, { status: 'LOCKED' });
    await commit(store, [locked, setDevice(1, { status: 'ACTIVE' }), locked], { at: 6 * day + 1 });
    const query = { codesExpireAfter: 0, codesExpireBy: 0, codesDueBy: 0, unusedSince: 0 };
    const daysSince = async (since: number) =>
      (await store.statistics({ ...query, since })).tallies
        .filter(({ subject, count }) => subject === 'day' && count !== 0)
        .map(({ value, status, count }) => `${value} ${status} ${count}`)
        .sort();
    const later = ['5 ACTIVE 1', '5 INACTIVE -1', '6 ACTIVE -1', '6 LOCKED 1'];
    expect(await daysSince(0)).toEqual(['4 INACTIVE 2', ...later]);
    expect(await daysSince(5 * day)).toEqual(later);
  }),

  rule('any filters, page and sort agree with the model', async ({ store }) => {
    const devices = await fill(store);
    await fc.assert(
      fc.asyncProperty(queries, query => agree(store, devices, query)),
      { numRuns: 400 },
    );
  }),

  rule('lists show each commit at once', async ({ store, reopen }) => {
    await fill(store, 80);
    let present = store;
    const step = fc.record({
      changes: fc.array(
        fc.oneof(
          fc.record({ device: fc.integer({ min: 1, max: 80 }), status: fc.constantFrom(...deviceStatuses) }),
          fc.record({ device: fc.integer({ min: 1, max: 80 }), userId: fc.constantFrom(...users, null) }),
          fc.record({ device: fc.integer({ min: 1, max: 80 }), updatedAt: fc.integer({ min: 1, max: 99 }) }),
          fc.record({ device: fc.integer({ min: 1, max: 80 }), tags: fc.nat(50).map(tagsOf) }),
          fc.record({ device: fc.integer({ min: 1, max: 80 }), used: fc.constant(true) }),
        ),
        { minLength: 1, maxLength: 5 },
      ),
      added: fc.integer({ min: 0, max: 3 }),
      at: fc.integer({ min: 900, max: 1300 }),
      query: queries,
    });
    let count = 80;
    await fc.assert(
      fc.asyncProperty(step, async ({ changes, added, at, query }) => {
        const fresh = Array.from({ length: added }, (_, i) =>
          addDevice(`N${count + i}`, { manufacturer: `M${count}`, tags: tagsOf(count + i) }),
        );
        const sets = changes.map(({ device, ...set }) =>
          'used' in set ? useDevice(device, 1) : setDevice(device, set),
        );
        await commit(present, [...fresh, ...sets], { at });
        count += added;
        await agree(present, await all(present, count), query);
      }),
      { numRuns: 60, endOnFailure: true },
    );
    present = await reopen();
    const devices = await all(present, count);
    for (const sortBy of deviceSorts) await agree(present, devices, queryOf({ sortBy, status: ['ACTIVE'] }));
  }),

  rule('pages neither repeat nor skip a row', async ({ store }) => {
    await fill(store);
    for (const sortBy of deviceSorts) {
      const seen: number[] = [];
      for (let offset = 0; offset < 240; offset += 37)
        seen.push(...numbersOf((await store.devices(queryOf({ sortBy, offset, limit: 37 }))).rows));
      expect([sortBy, new Set(seen).size, seen.length]).toEqual([sortBy, 240, 240]);
    }
  }),

  rule('% and _ in a keyword are ordinary characters; keywords ignore case, filters do not', async ({ store }) => {
    await commit(store, [addDevice('a_b'), addDevice('aXb'), addDevice('A_B')]);
    const found = async (filter: Partial<DeviceQuery>) =>
      numbersOf((await store.devices(queryOf({ descending: false, ...filter }))).rows);
    expect(await found({ keyword: 'a_b' })).toEqual([1, 3]);
    expect(await found({ keyword: 'a%b' })).toEqual([]);
    expect(await found({ keyword: 'dEv-2' })).toEqual([2]);
    expect(await found({ manufacturer: 'feitian' })).toEqual([]);
    expect(await found({ manufacturer: 'Feitian' })).toEqual([1, 2, 3]);
  }),

  rule('a keyword matches part of an id or of a serial number, but never spans both', async ({ store }) => {
    await commit(
      store,
      Array.from({ length: 130 }, (_, i) => addDevice(`Q${String.fromCharCode(65 + (i % 26))}x${i}`)),
    );
    const devices = await all(store, 130);
    for (const keyword of [
      'DEV-1',
      'DEV-13',
      'DEV-130',
      'DEV-131',
      'DEV-0',
      '30',
      '3',
      'x1',
      'qa',
      'z',
      '0Q',
      'EV-12Q',
      '1Q',
    ])
      await agree(store, devices, queryOf({ keyword, sortBy: 'deviceId' }));
  }),

  rule('the lists of an empty store are empty', async ({ store }) => {
    for (const sortBy of deviceSorts)
      for (const filter of [{}, { keyword: 'a' }, { status: ['ACTIVE'] }, { userId: 'x' }] as const)
        expect(await store.devices(queryOf({ sortBy, ...filter }))).toEqual({ rows: [], total: 0 });
  }),
];
