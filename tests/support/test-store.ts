/** Where the daemons of a test keep their registry: SQLite, or PostgreSQL if DEVMGR_TEST_STORE selects it. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { StoreTarget } from '../../daemon/home/store-target.ts';
import { followClock } from './clock.ts';
import type { PostgresServer } from './postgres.ts';

let server: Promise<PostgresServer> | null = null;

/** Tests of this file run on PostgreSQL. To be called at the top of the file, before it imports the tests. */
export function usePostgres(): void {
  process.env.DEVMGR_TEST_STORE = 'postgres';
  afterAll(async () => (await server)?.stop());
}

/** An empty database; null for SQLite in the home. */
export async function newTestStore(): Promise<StoreTarget | null> {
  if (process.env.DEVMGR_TEST_STORE !== 'postgres') return null;
  server ??= import('./postgres.ts').then(({ PostgresServer }) => PostgresServer.start());
  const running = await server;
  const database = await running.database();
  await running.query(clockOfTest(running.folder, database), database);
  return { url: running.url(database), env: {} };
}

/** Gives a database the clock that a test holds: the store refuses a daemon whose clock is off that of its database. */
function clockOfTest(folder: string, database: string): string {
  const file = join(folder, 'clock');
  followClock(now => (now === null ? rmSync(file, { force: true }) : writeFileSync(file, `${now}`)));
  const held = `to_timestamp(nullif(pg_read_file('${file}', 0, 20, true), '')::float8 / 1000)`;
  const functionOf = (name: string) =>
    `CREATE FUNCTION test_clock.${name}() RETURNS timestamptz LANGUAGE sql AS $$ SELECT coalesce(${held}, pg_catalog.${name}()) $$`;
  return [
    'CREATE SCHEMA test_clock',
    ...['now', 'clock_timestamp'].map(functionOf),
    `ALTER DATABASE ${database} SET search_path = public, test_clock, pg_catalog`,
  ].join(';');
}
