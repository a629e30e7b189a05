import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreFailure } from '../store.ts';
import { toFailure } from './failure.ts';
import { openReader } from './open.ts';

/**
 * Copies a database as it is at this moment into the new file `to` (0600), while others read and write it. The copy is one
 * complete file; `complete` can add to it before it gets its name. Rejects with `StoreFailure` if `to` exists or cannot be
 * written; then `to` is as it was.
 */
export async function backupDatabase(
  file: string,
  to: string,
  complete: (unfinished: string) => Promise<void> = async () => {},
): Promise<void> {
  if (existsSync(to)) throw new StoreFailure(`${to} already exists: name another file`);
  const unfinished = `${to}.unfinished`;
  rmSync(unfinished, { force: true });
  const source = openReader(file);
  try {
    // The folder may be open to others: no one else may read the copy while it grows, or put a link in its place.
    closeSync(openSync(unfinished, 'wx', 0o600));
    // One transaction for the whole copy: without it, each write by others restarts the copy.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await source.backup(unfinished);
    asOneFile(unfinished);
    await complete(unfinished);
    renameSync(unfinished, to);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw toFailure(error, 'the backup failed', to);
  } finally {
    source.close();
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
