/** Totals that are not counted for each request: they must be exact all the same. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manyDevices } from '../../daemon/store/postgres/migrations.ts';
import type { DeviceFilter } from '../../daemon/store/queries.ts';
import type { Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { addDevice, commit, queryOf, setDevice } from './store/fixtures.ts';

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const totalOf = async (store: Store, filter: DeviceFilter) =>
  (await store.devices(queryOf({ ...filter, limit: 1 }))).total;

needsPostgres('totals in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('of a user are exact before and after the user has many devices, whatever becomes of them', async () => {
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
    expect(await query('SELECT * FROM device_user_count')).toEqual([]);
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
    expect(await query(`SELECT sum(count)::int AS count FROM device_user_count WHERE user_id = 'alice'`)).toEqual([
      { count: devices - 5 },
    ]);
    await cleanup();
  });

  it('of a keyword contain what was added since, by any handle', async () => {
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
});
