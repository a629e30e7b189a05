/** The store in a PostgreSQL database. */
import type { DatabaseEngine } from '../database.ts';
import { openCopySource, openCopyTarget, openReplacement, openSnapshot } from './copy.ts';
import { databaseName, lockCreation, readImprint } from './imprint.ts';
import { databaseMaintenance } from './maintenance.ts';
import { openPostgresStore } from './postgres-store.ts';

export const postgres: DatabaseEngine = {
  databaseName,
  readImprint,
  lockCreation,
  openStore: openPostgresStore,
  openSnapshot,
  openCopySource,
  openCopyTarget,
  openReplacement,
  maintenance: databaseMaintenance,
};
