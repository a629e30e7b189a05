import { afterAll, beforeAll } from 'vitest';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import type { Programs } from '../support/postgres-server.ts';
import { clusterContract, storeContract } from './store.ts';

/** The contract of the store on a server of these programs; undefined if the machine does not have them. */
export function postgresContract(programs: Programs | undefined): void {
  const name = `PostgreSQL ${programs?.version ?? 'of another version'}`;
  const body = () => {
    let server: PostgresServer;
    beforeAll(async () => {
      if (!programs) throw new Error(`${name} is not installed; apt-get install postgresql`);
      server = await PostgresServer.start({ programs });
    });
    afterAll(() => server?.stop());

    storeContract(name, () => openPostgres(server));
    clusterContract(name, () => openPostgres(server));
  };
  needsPostgres(name, body, programs !== undefined);
}
