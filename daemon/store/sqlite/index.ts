/** The store in an SQLite file. */
export { type CheckReport, checkDatabase } from './check.ts';
export { backupDatabase, foldLog } from './snapshot.ts';
export { openSqliteStore, type SqliteOptions, type SqliteStore } from './sqlite-store.ts';
export type { JournalReport } from './verify.ts';
