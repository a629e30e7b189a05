/** The store in a PostgreSQL database. */
export { StoreMisconfigured, StoreUnreachable } from './failure.ts';
export { openPostgresStore } from './postgres-store.ts';
