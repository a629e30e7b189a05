/** Where the daemons of a test keep their registry: SQLite, or PostgreSQL if DEVMGR_TEST_STORE selects it. */
import { afterAll } from 'vitest';
import type { StoreTarget } from '../../daemon/home/store-target.ts';
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
  return { url: running.url(await running.database()), env: {} };
}
