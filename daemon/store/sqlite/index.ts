/** The store in an SQLite file. */

export { createDatabase, openCopySource, openCopyTarget, openDisposable } from './copy.ts';
export { readImprint } from './imprint.ts';
export { fileMaintenance } from './maintenance.ts';
export { openSqliteStore } from './sqlite-store.ts';
