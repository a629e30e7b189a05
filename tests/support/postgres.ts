/** A real PostgreSQL server for the tests of a file. */
import { describe, it } from 'vitest';
import { subjects } from '../../daemon/start/subjects.ts';
import { openPostgresStore, type PostgresOptions } from '../../daemon/store/postgres/postgres-store.ts';
import type { Store } from '../../daemon/store/store.ts';
import { type PostgresServer, postgresServers } from './postgres-server.ts';
import { journalKey } from './sqlite.ts';

export { PostgresServer, postgresServers, serverPassword } from './postgres-server.ts';

const openIn = (server: PostgresServer, database: string, options: Partial<PostgresOptions>) =>
  openPostgresStore({ subjects, url: server.url(database), env: {}, journalKey, watchMs: 20, ...options });

/** By server, a new database of a store of this release: a copy takes half of the time of its migrations. */
const templates = new WeakMap<PostgresServer, Promise<string>>();

async function makeTemplate(server: PostgresServer): Promise<string> {
  const database = await server.database();
  await (await openIn(server, database, {})).close();
  return database;
}

async function newDatabase(server: PostgresServer): Promise<string> {
  const template = templates.get(server) ?? makeTemplate(server);
  templates.set(server, template);
  return server.copyOf(await template);
}

/** The store of a new database, and what tests do with it. */
export async function openPostgres(server: PostgresServer, options: Partial<PostgresOptions> = {}) {
  const database = options.migrations ? await server.database() : await newDatabase(server);
  const stores: Store[] = [];
  const open = async (other: Partial<PostgresOptions> = {}) => {
    const store = await openIn(server, database, { ...options, ...other });
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
      await server.query(`DROP DATABASE ${database} WITH (FORCE)`);
    },
  };
}

/** Whether tests that need a server run: under CI they do, and fail if there is none. */
export const hasPostgres = (): boolean => postgresServers().length > 0 || Boolean(process.env.CI);

/** `describe` for tests that need a server: skipped by name if it is not there, and under CI run, so that they fail. */
export function needsPostgres(name: string, body: () => void, isThere = postgresServers().length > 0): void {
  if (isThere || process.env.CI) describe(name, body);
  else
    describe.skip(`${name} (skipped: PostgreSQL missing; apt-get install postgresql)`, () =>
      it('is skipped', () => {}));
}
