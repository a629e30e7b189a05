import { postgresServers } from '../support/postgres.ts';
import { postgresContract } from './store-on-postgres.ts';

postgresContract(postgresServers()[1]);
