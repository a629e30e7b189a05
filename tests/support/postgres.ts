/** A real PostgreSQL server for the tests of a file. */
import { describe, it } from 'vitest';
import { openPostgresStore, type PostgresOptions } from '../../daemon/store/postgres/postgres-store.ts';
import type { Store } from '../../daemon/store/store.ts';
import { type PostgresServer, postgresServers } from './postgres-server.ts';
import { journalKey } from './sqlite.ts';

export { PostgresServer, postgresServers, serverPassword } from './postgres-server.ts';

/** The store of a new database, and what tests do with it. */
export async function openPostgres(server: PostgresServer, options: Partial<PostgresOptions> = {}) {
  const database = await server.database();
  const stores: Store[] = [];
  const open = async (other: Partial<PostgresOptions> = {}) => {
    const store = await openPostgresStore({
      url: server.url(database),
      env: {},
      journalKey,
      watchMs: 20,
      ...options,
      ...other,
    });
    stores.push(store);
    return store;
  };
  const store = await open();
  return {
    database,
    store,
    raisesTimes: true,
    openAnother: open,
    reopen: async (other: Partial<PostgresOptions> = {}) => {
      await Promise.all(stores.map(opened => opened.close()));
      return open(other);
    },
    query: (sql: string) => server.query(sql, database),
    cleanup: async () => {
      await Promise.all(stores.map(opened => opened.close()));
      await server.giveBack(database);
    },
  };
}

/** Whether tests that need a server run: under CI they do, and fail if there is none. */
export const hasPostgres = (): boolean => postgresServers().length > 0 || Boolean(process.env.CI);

/** `describe` for tests that need a server: skipped by name if none is installed. */
export function needsPostgres(name: string, body: () => void): void {
  if (hasPostgres()) describe(name, body);
  else
    describe.skip(`${name} (skipped: PostgreSQL missing; apt-get install postgresql)`, () =>
      it('is skipped', () => {}));
}
