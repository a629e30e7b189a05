/** The store in a PostgreSQL database. */
export { openCopySource, openCopyTarget, openReplacement, openSnapshot } from './copy.ts';
export { StoreMisconfigured, StoreUnreachable } from './failure.ts';
export { databaseName, lockCreation, readImprint } from './imprint.ts';
export { databaseMaintenance } from './maintenance.ts';
export { openPostgresStore } from './postgres-store.ts';
