import { afterAll, beforeAll, describe } from 'vitest';
import { needsPostgres, openPostgres, PostgresServer, postgresServers } from '../support/postgres.ts';
import { clusterContract, storeContract } from './store.ts';

needsPostgres('PostgreSQL', () => {
  const [first, ...others] = postgresServers();
  for (const programs of [first, ...others]) {
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
  }
});
