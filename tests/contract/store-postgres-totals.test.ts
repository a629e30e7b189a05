/** Totals that are not counted for each request must be exact all the same; so must what indexes of their own find. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchParts } from '../../daemon/devices/postgres/keyword.ts';
import type { DeviceFilter, DeviceQuery } from '../../daemon/devices/queries.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { keptEntries } from '../../daemon/store/postgres/list-tables.ts';
import { manyDevices, migrations } from '../../daemon/store/postgres/migrations.ts';
import { openPostgresStore } from '../../daemon/store/postgres/postgres-store.ts';
import type { Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { journalKey } from '../support/sqlite.ts';
import { addBound, addDevice, commit, numbersOf, queryOf, setDevice, useDevice } from './store/fixtures.ts';

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const totalOf = async (store: Store, filter: DeviceFilter) =>
  (await store.devices(queryOf({ ...filter, limit: 1 }))).total;

it('the index for keywords is searched for few parts of them, the last one first', () => {
  expect(searchParts('ft-2026-2d1eda9f')).toEqual(['a9f', 'eda', '2d1', '026', '202']);
  expect(['123', '1234', '12345', '123456', 'ab-1'].map(searchParts)).toEqual([
    ['123'],
    ['234', '123'],
    ['345', '234', '123'],
    ['456', '345', '123'],
    [],
  ]);
  expect(searchParts('0123456789'.repeat(6))).toEqual(['789', '456', '123', '890', '567', '234']);
});

needsPostgres('lists in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('totals of a user are exact before and after the user has many devices, through all changes of them', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    const devices = manyDevices + 50;
    await commit(
      store,
      range(1, devices).map(n => addDevice(`s-${n}`)),
    );
    const bind = (first: number, last: number, userId: string | null) =>
      commit(
        store,
        range(first, last).map(n => setDevice(n, { status: userId ? 'ACTIVE' : 'DEACTIVATED', userId })),
      );
    await bind(1, manyDevices, 'alice');
    expect(await query('SELECT * FROM device_key_count')).toEqual([]);
    expect(await totalOf(store, { userId: 'alice' })).toBe(manyDevices);

    await bind(manyDevices + 1, devices, 'alice');
    await commit(
      store,
      range(1, 7).map(n => setDevice(n, { status: 'LOCKED' })),
    );
    await bind(8, 10, null);
    await bind(11, 12, 'bob');
    expect(await totalOf(store, { userId: 'alice' })).toBe(devices - 5);
    expect(await totalOf(store, { userId: 'alice', status: ['LOCKED'] })).toBe(7);
    expect(await totalOf(store, { userId: 'alice', status: ['LOCKED', 'ACTIVE'] })).toBe(devices - 5);
    expect(await totalOf(store, { userId: 'alice', status: ['INACTIVE'] })).toBe(0);
    expect(await totalOf(store, { userId: 'alice', deviceType: ['SIMKEY', 'UKEY'] })).toBe(devices - 5);
    expect(await totalOf(store, { userId: 'bob' })).toBe(2);
    expect(await query(`SELECT sum(count)::int AS count FROM device_key_count WHERE user_key = 'alice'`)).toEqual([
      { count: devices - 5 },
    ]);
    await cleanup();
  });

  it('totals of a user include devices that are bound when they are registered', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    const counted = async () =>
      (await query('SELECT user_key, sum(count)::int AS count FROM device_key_count GROUP BY 1 ORDER BY 1')) as unknown;
    const bind = (first: number, last: number, userId: string) =>
      commit(
        store,
        range(first, last).map(n => addBound(`s-${n}`, userId)),
      );
    await bind(1, manyDevices, 'alice');
    expect(await counted()).toEqual([]);
    await Promise.all([bind(manyDevices + 1, manyDevices + 5, 'Alice'), bind(1001, 1002, 'bob')]);
    expect(await counted()).toEqual([{ user_key: 'alice', count: manyDevices + 5 }]);
    await bind(2001, 2003, 'alice');
    await commit(store, [setDevice(1, { status: 'LOCKED' })]);
    expect(await counted()).toEqual([{ user_key: 'alice', count: manyDevices + 8 }]);
    expect(await totalOf(store, { userId: 'alice' })).toBe(manyDevices + 8);
    expect(await totalOf(store, { userId: 'alice', status: ['ACTIVE'] })).toBe(manyDevices + 7);
    expect(await totalOf(store, { userId: 'bob' })).toBe(2);
    await cleanup();
  });

  it('totals of a keyword include devices that any handle has added since', async () => {
    const { store, openAnother, cleanup } = await openPostgres(server);
    const other = await openAnother();
    await commit(
      store,
      range(1, 5).map(n => addDevice(`key-${n}`)),
    );
    const search = { keyword: 'KEY-' };
    expect([await totalOf(store, search), await totalOf(store, search), await totalOf(other, search)]).toEqual([
      5, 5, 5,
    ]);
    await commit(other, [addDevice('key-6'), addDevice('card-1'), addDevice('key-7', { manufacturer: 'Other' })]);
    expect([await totalOf(store, search), await totalOf(other, search)]).toEqual([7, 7]);
    expect(await totalOf(store, { ...search, manufacturer: 'Other' })).toBe(1);
    await commit(store, [addDevice('key-8', { manufacturer: 'Other' })]);
    expect(await totalOf(store, { ...search, manufacturer: 'Other' })).toBe(2);
    await commit(store, [setDevice(8, { status: 'LOCKED' })]);
    expect(await totalOf(store, { ...search, status: ['LOCKED'] })).toBe(1);
    expect(await totalOf(store, { keyword: 'DEV-' })).toBe(9);
    await cleanup();
  });

  it('totals are remembered, and counted again after a failover that lacks what they include, and when too much has changed', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    const tags = { site: 'a' };
    await commit(
      store,
      range(1, 5).map(n => addDevice(`key-${n}`, { tags })),
    );
    const filter: DeviceFilter = { tags: [{ name: 'site', value: 'a' }], status: ['INACTIVE'] };
    expect(await totalOf(store, filter)).toBe(5);
    // No trigger sees this: a total that is counted again differs from the remembered one.
    const lockOne = (number: number) =>
      query(`ALTER TABLE device DISABLE TRIGGER USER; UPDATE device SET status = 'LOCKED' WHERE number = ${number};
        ALTER TABLE device ENABLE TRIGGER USER`);
    await lockOne(1);
    expect(await totalOf(store, filter)).toBe(5);
    await commit(store, [setDevice(2, { status: 'LOCKED' }), addDevice('key-6', { tags })]);
    expect(await totalOf(store, filter)).toBe(5);

    await query(`ALTER TABLE event DISABLE TRIGGER USER; UPDATE event SET mac = 'another' WHERE id = (SELECT max(id) FROM event);
      ALTER TABLE event ENABLE TRIGGER USER`);
    expect(await totalOf(store, filter)).toBe(4);
    await query('UPDATE head SET mac = (SELECT mac FROM event ORDER BY id DESC LIMIT 1)');
    expect(await totalOf(store, filter)).toBe(4);
    await lockOne(3);
    expect(await totalOf(store, filter)).toBe(4);
    await query(`UPDATE head SET event = event + ${keptEntries + 1}`);
    expect(await totalOf(store, filter)).toBe(3);
    await cleanup();
  });

  it('a page has the first matches of the last one and what has changed, and all devices are searched again after a failover and when too much has changed', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    const now = Date.now();
    await commit(
      store,
      range(1, 39).map(n => addDevice(`key-${n}`, { activationCodeExpiresAt: now + (n < 6 ? 0 : 60_000) })),
    );
    const page = async (bound = 0, filter: DeviceFilter = {}) =>
      numbersOf((await store.devices(queryOf({ codeExpiresBefore: now + 1 + bound, ...filter, limit: 2 }))).rows);
    expect(await page()).toEqual([5, 4]);
    // No trigger sees this: a page that is searched among all devices has it.
    const expire = (number: number) =>
      query(`ALTER TABLE device DISABLE TRIGGER USER;
        UPDATE device SET activation_code_expires_at = ${now} WHERE number = ${number}; ALTER TABLE device ENABLE TRIGGER USER`);
    await expire(7);
    expect([await page(), await page(1)]).toEqual([
      [5, 4],
      [5, 4],
    ]);
    await commit(store, [
      addDevice('key-40', { activationCodeExpiresAt: now }),
      setDevice(8, { activationCodeExpiresAt: now }),
    ]);
    expect(await page()).toEqual([40, 8]);
    await commit(
      store,
      [8, 40].map(n => setDevice(n, { activationCodeExpiresAt: now + 60_000 })),
    );
    expect([await page(), await page(60_000), await page()]).toEqual([
      [7, 5],
      [40, 39],
      [7, 5],
    ]);
    await expire(9);
    expect(await page()).toEqual([7, 5]);
    await query(`ALTER TABLE event DISABLE TRIGGER USER; UPDATE event SET mac = 'another' WHERE id = (SELECT max(id) FROM event);
      ALTER TABLE event ENABLE TRIGGER USER`);
    expect(await page()).toEqual([9, 7]);
    await query('UPDATE head SET mac = (SELECT mac FROM event ORDER BY id DESC LIMIT 1)');
    expect(await page()).toEqual([9, 7]);
    await expire(10);
    expect(await page()).toEqual([9, 7]);
    await query(`UPDATE head SET event = event + ${keptEntries + 1}`);
    expect(await page()).toEqual([10, 9]);
    await cleanup();
  });

  it('a page of two filters with few devices in common follows from the last one, in both orders and for any limit', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    const tags = { site: 'a' };
    await commit(
      store,
      range(1, 60).map(n => addDevice(`key-${n}`, n % 2 === 0 ? { tags } : {})),
    );
    const bind = (userId: string | null, ...numbers: number[]) =>
      commit(
        store,
        numbers.map(n => setDevice(n, { userId })),
      );
    await bind('alice', ...range(1, 12));
    const filter: DeviceFilter = { tags: [{ name: 'site', value: 'a' }], userId: 'alice' };
    const page = async (part: Partial<DeviceQuery> = {}) =>
      numbersOf((await store.devices(queryOf({ ...filter, limit: 2, ...part }))).rows);
    expect([await page(), await page({ descending: false }), await page({ userId: 'bob' })]).toEqual([
      [12, 10],
      [2, 4],
      [],
    ]);
    // No trigger sees this: a page that is searched among all devices has it.
    await query(`ALTER TABLE device DISABLE TRIGGER USER; UPDATE device SET user_id = 'alice', user_key = 'alice' WHERE number = 14;
      ALTER TABLE device ENABLE TRIGGER USER`);
    expect([await page(), await page({ offset: 2 }), await page({ limit: 3 })]).toEqual([
      [12, 10],
      [8, 6],
      [14, 12, 10],
    ]);
    await bind(null, 12);
    await commit(store, [addDevice('key-61', { tags }), addDevice('key-62')]);
    await bind('bob', 30, 31);
    expect([await page(), await page({ descending: false }), await page({ userId: 'bob' })]).toEqual([
      [10, 8],
      [2, 4],
      [30],
    ]);
    await bind('alice', 30, 61, 62);
    await bind(null, 2);
    expect([await page(), await page({ descending: false }), await page({ userId: 'bob' })]).toEqual([
      [61, 30],
      [4, 6],
      [],
    ]);
    await cleanup();
  });

  it('totals of a recent last use are counted each time: uses that only move it are not kept', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    const now = Date.now();
    await commit(store, [addDevice('key-1'), addDevice('key-2')], { at: now - 20_000 });
    const use = (n: number, at: number) => commit(store, [useDevice(n, 1)], { at });
    await use(1, now - 10_000);
    await use(2, now - 9_000);
    await query('DELETE FROM device_before');
    const filter: DeviceFilter = { lastUsedBefore: now - 5_000 };
    expect(await totalOf(store, filter)).toBe(2);
    await use(1, now);
    expect(await query('SELECT * FROM device_before')).toEqual([]);
    expect(await totalOf(store, filter)).toBe(1);
    await cleanup();
  });

  it('marks are made for the devices of an earlier schema', async () => {
    // The program writes to its own schema only: an earlier one gets the rows as they are.
    const present = await openPostgres(server);
    await commit(present.store, [addDevice('key-1', { tags: { site: 'a', zone: 'b' } }), addDevice('key-2')]);
    const rows = await present.query('SELECT to_json(device)::text AS row FROM device');
    await present.cleanup();
    const { store, query, database, cleanup } = await openPostgres(server, { migrations: migrations.slice(0, 5) });
    await store.close();
    for (const { row } of rows)
      await query(`INSERT INTO device SELECT * FROM json_populate_record(NULL::device, $row$${row}$row$)`);
    const newer = await openPostgresStore({ subjects, url: server.url(database), env: {}, journalKey });
    expect(await query('SELECT mark, number::int FROM device_mark ORDER BY mark')).toEqual([
      { mark: 'tag:site:a', number: 1 },
      { mark: 'tag:zone:b', number: 1 },
    ]);
    expect(await totalOf(newer, { tags: [{ name: 'zone', value: 'b' }] })).toBe(1);
    await newer.close();
    await cleanup();
  });

  it('keywords that begin ids find them by their numbers, and serial numbers that look like ids', async () => {
    const { store, cleanup } = await openPostgres(server);
    await commit(
      store,
      range(1, 130).map(n => addDevice(n === 7 ? 'my-DEV-12' : `key-${n}`)),
    );
    const found = async (keyword: string) =>
      numbersOf((await store.devices(queryOf({ keyword, descending: false }))).rows);
    for (const _ of ['counted', 'remembered']) {
      expect(await found('dev-12')).toEqual([7, 12, ...range(120, 129)]);
      expect(await found('DEV-013')).toEqual([]);
      expect(await found('dev-0')).toEqual([]);
    }
    await cleanup();
  });

  it('keywords of more matches than are looked up at once have whole pages and totals', async () => {
    const { store, cleanup } = await openPostgres(server);
    await commit(
      store,
      range(1, 1100).map(n => addDevice(n % 10 === 0 ? `rare-${n}` : `key-${n}`)),
    );
    const matches = (keyword: string) =>
      range(1, 1100).filter(n => `dev-${n}\n${n % 10 === 0 ? 'rare' : 'key'}-${n}`.includes(keyword)).length;
    for (const sortBy of ['createTime', 'lastUsedAt', 'serialNumber'] as const)
      for (const keyword of ['key-', 'rare', 'dev-1', 'e', '-11'])
        for (const offset of [0, 100]) {
          const { rows, total } = await store.devices(queryOf({ keyword, sortBy, limit: 20, offset }));
          const wanted = matches(keyword);
          expect([keyword, total, rows.length]).toEqual([keyword, wanted, Math.min(20, Math.max(0, wanted - offset))]);
        }
    await cleanup();
  });

  it('changes of administration are found by their index, in a journal of changes of devices', async () => {
    const { query, reopen, cleanup } = await openPostgres(server);
    await query(`INSERT INTO event (id, at, type, device, subject, actor, request_id, data, detail, mac)
      SELECT i, i, CASE WHEN i = 5 THEN 'USER_UPDATED' ELSE 'DEVICE_USED' END, CASE WHEN i = 5 THEN NULL ELSE i % 90 END,
        1, 'admin', NULL, '{}', '{}', '' FROM generate_series(1, 50000) i`);
    await query('UPDATE head SET event = 50000');
    await query('ANALYZE event');
    const store = await reopen();
    const filter = { types: ['USER_CREATED', 'USER_UPDATED'], besideDevices: true, limit: 10 } as const;
    const found = async (more: object) => (await store.events({ after: 0, ...filter, ...more })).map(({ id }) => id);
    expect(await found({ before: 60_000 })).toEqual([5]);
    expect(await found({})).toEqual([5]);
    const used = `SELECT idx_scan::int AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'event_beside_devices'`;
    await expect.poll(async () => (await query(used))[0]!.scans, { timeout: 10_000 }).toBeGreaterThan(1);
    await cleanup();
  });

  it('a change of many devices whose figures stay takes less for the tallies than for the rows', async () => {
    const { store, query, cleanup } = await openPostgres(server);
    await commit(
      store,
      range(1, 3000).map(n => addDevice(`s-${n}`)),
    );
    const lines = await query(`EXPLAIN (ANALYZE) UPDATE device SET note = 'seen'`);
    const plan = lines.map(line => line['QUERY PLAN']).join('\n');
    const time = (of: RegExp) => Number(of.exec(plan)?.[1]);
    expect(time(/device_tallied_again: time=([\d.]+)/)).toBeLessThan(time(/Update on device .*actual time=(\d+)/));
    await cleanup();
  });
});
