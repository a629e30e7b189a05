import { describe } from 'vitest';
import { postgresServers } from '../support/postgres.ts';
import { postgresContract } from './store-on-postgres.ts';

const [, ...others] = postgresServers();
for (const programs of others) postgresContract(programs);
if (others.length === 0) describe.skip('a second version of PostgreSQL (skipped: missing; apt-get install postgresql)');
