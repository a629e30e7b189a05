import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { linkOrCopy, syncFile, syncFolder } from '../../base/files.ts';
import type { CheckReport, RegistryReader, StagedRestore } from '../maintenance.ts';
import type { Subjects } from '../subjects.ts';
import { checkDatabase } from './check.ts';
import { openSqliteReader } from './reader.ts';

/** A database file and the key of its journal. */
export interface SqliteRegistry {
  readonly subjects: Subjects;
  readonly file: string;
  /** In the order of their use, the last one the current one. Requested only when they are needed: a backup needs none. */
  readonly journalKeys: () => Promise<readonly Uint8Array[]>;
}

/** Files that SQLite may keep beside a database. */
const companions = ['-wal', '-shm'];

/** Checks the database that `copy` writes beside that of the registry: what was checked is what gets installed. */
export async function stageRestore(
  { subjects, file, journalKeys }: SqliteRegistry,
  copy: (to: string) => Promise<void>,
): Promise<StagedRestore> {
  const staged = `${file}.restoring`;
  try {
    await removeDatabase(staged);
    await copy(staged);
    const keys = await journalKeys();
    const report = await checkDatabase(subjects, staged, keys);
    await syncFile(staged);
    return stagedDatabase(file, staged, report, openSqliteReader(subjects, staged, keys));
  } catch (error) {
    await removeDatabase(staged);
    throw error;
  }
}

const stagedDatabase = (
  registry: string,
  file: string,
  report: CheckReport,
  reader: RegistryReader,
): StagedRestore => ({
  file,
  report,
  reader,
  async keepPresent(label) {
    foldLog(registry);
    const kept = registry + label;
    const existed = await linkOrCopy(registry, kept);
    for (const suffix of companions) await linkOrCopy(registry + suffix, kept + suffix);
    return existed ? kept : null;
  },
  async install() {
    await reader.close();
    for (const suffix of companions) await rm(registry + suffix, { force: true });
    await rename(file, registry);
    await syncFolder(dirname(registry));
  },
  async discard() {
    await reader.close();
    await removeDatabase(file);
  },
});

async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['', ...companions]) await rm(file + suffix, { force: true });
}

/**
 * Moves what a crash has left in the write-ahead log into a database that no one has open, so that the file alone is complete.
 * A file that is missing or damaged stays as it is.
 */
function foldLog(file: string): void {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { fileMustExist: true });
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // A database that cannot be read need not be complete.
  } finally {
    db?.close();
  }
}
