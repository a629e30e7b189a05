/** The store in an SQLite file. */
export { SqliteMaintenance } from './maintenance.ts';
export { openSqliteStore } from './sqlite-store.ts';
