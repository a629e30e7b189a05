import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { linkOrCopy, syncFile, syncFolder } from '../../files.ts';
import type { CheckReport, RegistryReader, StagedRestore } from '../maintenance.ts';
import { checkDatabase } from './check.ts';
import { openSqliteReader } from './reader.ts';

/** A database file and the key of its journal. */
export interface SqliteRegistry {
  readonly file: string;
  /** In the order of their use, the last one the current one. Requested only when they are needed: a backup needs none. */
  readonly journalKeys: () => Promise<readonly Uint8Array[]>;
}

/** Files that SQLite may keep beside a database. */
const companions = ['-wal', '-shm'];

/** Checks the database that `copy` writes beside that of the registry: what was checked is what gets installed. */
export async function stageRestore(
  { file, journalKeys }: SqliteRegistry,
  copy: (to: string) => Promise<void>,
): Promise<StagedRestore> {
  const staged = `${file}.restoring`;
  try {
    await removeDatabase(staged);
    await copy(staged);
    const keys = await journalKeys();
    const report = await checkDatabase(staged, keys);
    await syncFile(staged);
    return new StagedDatabase(file, staged, report, openSqliteReader(staged, keys));
  } catch (error) {
    await removeDatabase(staged);
    throw error;
  }
}

class StagedDatabase implements StagedRestore {
  readonly report: CheckReport;
  readonly reader: RegistryReader;
  readonly file: string;
  readonly #registry: string;

  constructor(registry: string, file: string, report: CheckReport, reader: RegistryReader) {
    this.#registry = registry;
    this.file = file;
    this.report = report;
    this.reader = reader;
  }

  async keepPresent(label: string): Promise<string | null> {
    foldLog(this.#registry);
    const kept = this.#registry + label;
    const existed = await linkOrCopy(this.#registry, kept);
    for (const suffix of companions) await linkOrCopy(this.#registry + suffix, kept + suffix);
    return existed ? kept : null;
  }

  async install(): Promise<void> {
    await this.reader.close();
    for (const suffix of companions) await rm(this.#registry + suffix, { force: true });
    await rename(this.file, this.#registry);
    await syncFolder(dirname(this.#registry));
  }

  async discard(): Promise<void> {
    await this.reader.close();
    await removeDatabase(this.file);
  }
}

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
