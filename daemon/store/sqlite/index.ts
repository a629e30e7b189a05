/** The store in an SQLite file. */

import type { FileMaintenance } from '../maintenance.ts';
import { checkDatabase } from './check.ts';
import { openSqliteReader } from './reader.ts';
import { type SqliteRegistry, stageRestore } from './restore.ts';
import { backupDatabase } from './snapshot.ts';
import { openSqliteStore } from './sqlite-store.ts';

export { createDatabase, openCopySource, openCopyTarget, openDisposable } from './copy.ts';
export { readImprint } from './imprint.ts';
export { openSqliteStore };

/** The maintenance of a registry in an SQLite file. */
export const fileMaintenance = (registry: SqliteRegistry): FileMaintenance => ({
  async openStore() {
    const [journalKey, ...otherJournalKeys] = (await registry.journalKeys()).toReversed();
    const { subjects, file } = registry;
    return openSqliteStore({ subjects, file, journalKey: journalKey!, otherJournalKeys });
  },
  openReader: async () => openSqliteReader(registry.subjects, registry.file, await registry.journalKeys()),
  backup: (to, complete) => backupDatabase(registry.file, to, complete),
  check: async anchors => checkDatabase(registry.subjects, registry.file, await registry.journalKeys(), anchors),
  copyDatabase: backupDatabase,
  stageRestore: copy => stageRestore(registry, copy),
});
