import { openTemporary } from '../support/sqlite.ts';
import { storeContract } from './store.ts';

storeContract('SQLite', openTemporary);
