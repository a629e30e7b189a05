/** Devices of an earlier version are bound to names only: an upgrade gives them to the persons with these names. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DueWork } from '../../daemon/background/due-work.ts';
import { edit } from '../../daemon/people/decisions.ts';
import { bindEarlierDevices } from '../../daemon/people/earlier-devices.ts';
import { earlierDevices } from '../../daemon/people/work.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { migrations } from '../../daemon/store/postgres/migrations.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { addDevice, commit, queryOf, setDevice } from './store/fixtures.ts';
import { add, leaving } from './store/person-rules.ts';

const now = () => 1_900_000_000_000;

/**
 * A registry that a daemon of the schema 17 has written: 10 devices, then persons person.1 to person.20, then 10 devices, then the
 * person zoë and five devices. The first device is bound to Person.1, the twelfth to person.12.unknown.
 */
const written = new URL('../support/registry-of-names.db.gz', import.meta.url);
const journalKey = new Uint8Array(32).fill(7);

it('on SQLite, with a journal that proves it', async () => {
  const file = join(temporaryFolder(), 'devmgr.db');
  writeFileSync(file, gunzipSync(readFileSync(written)));
  const open = () => openSqliteStore({ subjects, file, journalKey });
  const problems = async () => (await checkDatabase(subjects, file, journalKey)).problems;
  expect(await problems()).toEqual([]);
  const store = await open();
  expect(await problems()).toEqual([]);
  expect(await bindEarlierDevices(store, now)).toEqual({ bound: 20, unmatched: 5 });
  expect(await problems()).toEqual([]);
  expect(await bindEarlierDevices(store, now)).toEqual({ bound: 0, unmatched: 0 });
  const owner = async (number: number) => (await store.device(number))?.person;
  expect(await Promise.all([1, 2, 10, 11, 12, 13, 21, 22, 23].map(owner))).toEqual([
    1,
    2,
    10,
    11,
    null,
    13,
    null,
    21,
    null,
  ]);
  expect(await store.device(1)).toMatchObject({ userId: 'Person.1', userKey: 'person.1', version: 3 });
  expect((await store.unmatchedDevices(9, 0)).map(({ userId }) => userId)).toEqual([
    'person.12.unknown',
    'zoe',
    'zoe@example.com',
    'Zoe Smith',
    'nobody',
  ]);
  expect((await store.devices(queryOf({ userId: 'PERSON.1' }))).total).toBe(1);
  await store.close();
  const db = new Database(file);
  db.exec('UPDATE device SET person = 2 WHERE number = 1; UPDATE device SET person = NULL WHERE number = 3');
  db.close();
  expect(await problems()).toEqual([1, 3].map(n => `journal: the person of DEV-${n} was changed without an entry`));
});

it('a person who leaves or is renamed before that has the devices with exactly the name, and a change leaves them to be bound', async () => {
  const file = join(temporaryFolder(), 'devmgr.db');
  writeFileSync(file, gunzipSync(readFileSync(written)));
  const store = await openSqliteStore({ subjects, file, journalKey });
  await commit(store, [setDevice(2, { note: 'seen' }), setDevice(13, { note: 'seen' })]);
  expect(await store.device(13)).toMatchObject({ userId: 'person.13', userKey: null, person: null });
  expect(await commit(store, [leaving(13, 'person.13')])).toMatchObject([{ kind: 'left', locked: [13] }]);
  await commit(store, [edit((await store.person(11))!, { userName: 'eleven' })!]);
  expect(await store.device(11)).toMatchObject({ userId: 'eleven', userKey: 'eleven', person: 11 });
  expect(await bindEarlierDevices(store, now)).toEqual({ bound: 18, unmatched: 5 });
  expect(await store.device(13)).toMatchObject({ status: 'LOCKED', person: 13 });
  await store.close();
  expect((await checkDatabase(subjects, file, journalKey)).problems).toEqual([]);
});

it('a person who is added while devices are bound gets those with the name', async () => {
  const file = join(temporaryFolder(), 'devmgr.db');
  writeFileSync(file, gunzipSync(readFileSync(written)));
  const store = await openSqliteStore({ subjects, file, journalKey });
  let isFirst = true;
  const people: typeof store.people = async filter => {
    const found = await store.people(filter);
    if (isFirst) await commit(store, [add('zoe')]);
    isFirst = false;
    return found;
  };
  const racing = {
    people,
    unkeyedDevices: (limit: number) => store.unkeyedDevices(limit),
    commit: (made: Parameters<typeof store.commit>[0]) => store.commit(made),
  };
  expect(await bindEarlierDevices(racing, now)).toEqual({ bound: 21, unmatched: 4 });
  expect(await store.unmatchedCount()).toBe(4);
  await store.close();
});

needsPostgres('on PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('keeps totals of users with many devices, and accounts by their names', async () => {
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === 'persons of devices'),
    );
    const old = await openPostgres(server, { migrations: before });
    try {
      await old.query(`INSERT INTO person (number, user_name, user_key, active, groups, source, created_at, updated_at, version, salt, search)
          VALUES (1, 'Zoë', 'zoë', true, '[]', 'scim', 1, 1, 1, 's', ''), (2, 'bob', 'bob', true, '[]', 'scim', 1, 1, 1, 's', '')`);
      await old.query(`INSERT INTO device (number, device_type, serial_number, manufacturer, model, status, user_id, activation_code,
            activation_code_expires_at, created_at, activated_at, usage_count, usage_seconds, backup_count)
          SELECT n, 'UKEY', 'S-' || n, 'F', 'M', 'ACTIVE', CASE WHEN n <= 400 THEN 'ZOË' WHEN n = 406 THEN 'bob' ELSE 'other' END, 'X', 1, 1, 1, 0, 0, 0
          FROM generate_series(1, 406) AS n`);
      await old.query(`INSERT INTO "user" (number, username, password_hash, role, disabled, created_at, token_epoch)
          VALUES (1, 'Near.One', 'x', 'VIEWER', false, 1, 0)`);
      const store = await old.reopen({ migrations });
      await old.query('UPDATE head SET person = 2, device = 406');
      await commit(store, [setDevice(406, { note: 'seen' })]);
      expect(await commit(store, [leaving(2, 'bob')])).toMatchObject([{ locked: [406] }]);
      expect(await bindEarlierDevices(store, now)).toEqual({ bound: 400, unmatched: 5 });
      expect((await store.devices(queryOf({ userId: 'zoë', limit: 1 }))).total).toBe(400);
      expect((await store.devices(queryOf({ userId: 'OTHER', limit: 1 }))).total).toBe(5);
      expect([await store.deviceCount(1), await store.unmatchedCount()]).toEqual([400, 5]);
      expect(await store.usersNamed('near.one')).toMatchObject([{ username: 'Near.One' }]);
    } finally {
      await old.cleanup();
    }
  });

  it('binds what a daemon of an earlier version activates, although that daemon has the work on leavers', async () => {
    const { store, openAnother, query, cleanup } = await openPostgres(server);
    const earlier = await openAnother();
    const held = await earlier.sharedWork!.take('leavers');
    const work = new DueWork({ store, log: pino({ level: 'silent' }) }, earlierDevices({ store, now }));
    try {
      await commit(store, [add('ann'), addDevice('SN-1')]);
      work.start();
      await query(`UPDATE device SET status = 'ACTIVE', user_id = 'ann', activated_at = 1 WHERE number = 1`);
      await vi.waitFor(async () => expect(await store.device(1)).toMatchObject({ userKey: 'ann', person: 1 }), 20_000);
    } finally {
      await work.stop();
      await held?.release();
      await cleanup();
    }
  });
});
