import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { syncFile, syncFolder } from '../../base/files.ts';
import { StoreFailure } from '../commit.ts';
import { toFailure } from './failure.ts';
import { openReader } from './open.ts';

/** Adds to a file before it gets its name. */
export type Complete = (unfinished: string) => Promise<void>;

/**
 * Copies a database as it is at this moment into the new file `to` (0600), while others read and write it. The copy is one
 * complete file. Rejects with `StoreFailure` if `to` exists or cannot be written; then `to` is as it was.
 */
export async function backupDatabase(file: string, to: string, complete?: Complete): Promise<void> {
  const copy = async (unfinished: string) => {
    const source = openReader(file);
    try {
      // One transaction for the whole copy: without it, each write by others restarts the copy.
      source.exec('BEGIN');
      source.prepare('SELECT count(*) FROM sqlite_schema').get();
      await source.backup(unfinished);
    } finally {
      source.close();
    }
    asOneFile(unfinished);
  };
  await writeNewDatabase(to, copy, complete);
}

/** Writes under another name first. See `backupDatabase` for what is refused. */
export async function writeNewDatabase(
  to: string,
  write: (unfinished: string) => Promise<void>,
  complete: Complete = async () => {},
): Promise<void> {
  if (existsSync(to)) throw new StoreFailure(`${to} already exists: name another file`);
  const unfinished = `${to}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    // The folder may be open to others: no one else may read the copy while it grows, or put a link in its place.
    closeSync(openSync(unfinished, 'wx', 0o600));
    await write(unfinished);
    await complete(unfinished);
    await syncFile(unfinished);
    renameSync(unfinished, to);
    await syncFolder(dirname(to));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw toFailure(error, 'the backup failed', to);
  }
}

/** Takes a database out of WAL mode, which would need two more files beside it. */
function asOneFile(file: string): void {
  const copy = new Database(file);
  try {
    copy.pragma('trusted_schema = OFF');
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}
