import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreFailure } from '../store.ts';
import { toFailure } from './failure.ts';
import { openReader } from './open.ts';

/**
 * Copies a database as it is at this moment into the new file `to` (0600), while others go on reading and writing it. The
 * copy is one file, complete in itself. Rejects with `StoreFailure` where `to` exists or cannot be written; then it is not there.
 */
export async function backupDatabase(file: string, to: string): Promise<void> {
  if (existsSync(to)) throw new StoreFailure(`${to} exists already: name a file that does not`);
  const unfinished = `${to}.unfinished`;
  rmSync(unfinished, { force: true });
  const source = openReader(file);
  try {
    // Nobody else is to read it while it grows, nor to have put a link in its place: the folder may be anybody's.
    closeSync(openSync(unfinished, 'wx', 0o600));
    // One transaction for the whole copy: without it, each write by others starts the copy anew.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await source.backup(unfinished);
    asOneFile(unfinished);
    renameSync(unfinished, to);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw toFailure(error, 'no backup was made', to);
  } finally {
    source.close();
  }
}

/**
 * Takes what a crash has left in the write-ahead log into a database that nobody has open, so that the file alone is the whole
 * of it. One that is not there or damaged stays as it is.
 */
export function foldLog(file: string): void {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { fileMustExist: true });
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // What cannot be read any more need not be whole.
  } finally {
    db?.close();
  }
}

/** Takes a database out of WAL mode, which would need two more files beside it. */
function asOneFile(file: string): void {
  const copy = new Database(file);
  try {
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}
