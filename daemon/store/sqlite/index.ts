/** The store in an SQLite file. */
export { type CheckReport, checkDatabase } from './check.ts';
export { backupDatabase } from './snapshot.ts';
export { openSqliteStore, type SqliteOptions, type SqliteStore } from './sqlite-store.ts';
export type { JournalReport } from './verify.ts';
