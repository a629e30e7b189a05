import { afterAll, beforeAll, describe } from 'vitest';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import type { Programs } from '../support/postgres-server.ts';
import { clusterContract, storeContract } from './store.ts';

/** The contract of the store on a server of these programs. */
export function postgresContract(programs: Programs | undefined): void {
  needsPostgres('PostgreSQL', () => {
    const name = `PostgreSQL ${programs?.version ?? ''}`;
    describe(name, () => {
      let server: PostgresServer;
      beforeAll(async () => {
        server = await PostgresServer.start({ programs });
      });
      afterAll(() => server?.stop());

      storeContract(name, () => openPostgres(server));
      clusterContract(name, () => openPostgres(server));
    });
  });
}
