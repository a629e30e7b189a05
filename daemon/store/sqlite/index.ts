/** The store in an SQLite file. */

export { readImprint } from './imprint.ts';
export { SqliteMaintenance } from './maintenance.ts';
export { openSqliteStore } from './sqlite-store.ts';
