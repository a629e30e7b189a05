import { afterAll, beforeAll } from 'vitest';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { clusterContract, storeContract } from './store.ts';

needsPostgres('PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  storeContract('PostgreSQL', () => openPostgres(server));
  clusterContract('PostgreSQL', () => openPostgres(server));
});
