import { SqliteError } from 'better-sqlite3';
import { StoreFailure } from '../commit.ts';

const advice: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_FULL/, 'the disk is full: free some space; nothing that was acknowledged is lost'],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    'it is damaged or not a database: stop the daemon, then restore a backup with "devmgr daemon restore FILE"',
  ],
  [/^SQLITE_(CANTOPEN|PERM|READONLY|AUTH)/, 'check that it exists, and that it and its folder belong to this user'],
  [/^SQLITE_(BUSY|LOCKED)/, 'another program is using it: end that program'],
  [/^SQLITE_IOERR/, 'the disk reports an error: look at the system log'],
];

/** The `StoreFailure` for an error of SQLite. `doing` shows what failed, `file` on which database. */
export function toFailure(error: unknown, doing: string, file: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof SqliteError ? error.code : '';
  const next = advice.find(([pattern]) => pattern.test(code))?.[1];
  return new StoreFailure(
    `${doing}: ${file}: ${message}${code ? ` (${code})` : ''}${next ? `; ${next}` : ''}`,
    error instanceof Error ? { cause: error } : undefined,
  );
}

/** Whether the disk or the database is the cause, so that the next write can be expected to fail as well. */
export function isOutage(error: unknown): boolean {
  return error instanceof SqliteError && !/^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(error.code);
}
