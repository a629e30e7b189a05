/** Registries from before keys were recognized by credentials: devices stay what they are, and their keys get credentials. */
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { identityOf } from '../../daemon/identity/records.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { databaseMaintenance } from '../../daemon/store/postgres/maintenance.ts';
import { migrations as postgresSteps } from '../../daemon/store/postgres/migrations.ts';
import { migrations as sqliteSteps } from '../../daemon/store/sqlite/migrations.ts';
import type { Store } from '../../daemon/store/store.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { journalKey, openTemporary } from '../support/sqlite.ts';
import { addDevice, commit } from './store/fixtures.ts';
import { add } from './store/identity-rules.ts';

/** The step that a registry lacks from before. */
const stepOf = (steps: readonly { readonly name: string; readonly sql: string }[]) =>
  steps.find(({ name }) => name === 'identities of keys')!.sql;

/** The devices are those of before, and one of them gets a credential. */
async function keepsDevices(store: Store): Promise<void> {
  expect(await store.anyIdentity()).toEqual([]);
  for (const number of [1, 2]) expect(identityOf(await store.identitiesOf(number))).toBe('serial');
  expect((await store.device(2))?.serialNumber).toBe('S-2');
  await commit(store, [add('one', 2)]);
  expect(identityOf(await store.identitiesOf(2))).toBe('credential');
  expect(identityOf(await store.identitiesOf(1))).toBe('serial');
}

const before = [addDevice('S-1'), addDevice('S-2')];

it('a registry in SQLite keeps its devices', async () => {
  const opened = await openTemporary();
  await commit(opened.store, before);
  await opened.store.close();
  const db = new Database(opened.file);
  db.exec(`DROP TABLE identity; ${stepOf(sqliteSteps)}`);
  db.close();
  await keepsDevices(await opened.reopen());
  expect((await opened.verifyJournal()).problems).toEqual([]);
  await opened.cleanup();
});

needsPostgres('a registry in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('keeps its devices', async () => {
    const opened = await openPostgres(server);
    await commit(opened.store, before);
    await opened.query('DROP TABLE identity');
    await opened.query('ALTER TABLE head DROP COLUMN identity');
    await opened.query(stepOf(postgresSteps));
    await keepsDevices(await opened.reopen());
    const options = { subjects, url: server.url(opened.database), env: {}, journalKeys: async () => [journalKey] };
    expect((await databaseMaintenance(options).check()).problems).toEqual([]);
    await opened.cleanup();
  });
});
