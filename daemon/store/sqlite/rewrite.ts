/** Rewrites a database, so that free pages and the log have nothing of what was deleted. */

import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { StoreFailure } from '../commit.ts';
import { toFailure } from './failure.ts';

/** Milliseconds between two attempts, and of all attempts together. */
const RETRY_MS = 50;
const PATIENCE_MS = 60_000;

/** Waits for a moment without a transaction. The process does nothing else while it rewrites. */
export async function rewriteDatabase(file: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  const attempt = async (step: (db: Database.Database) => boolean) => {
    for (;;) {
      let db: Database.Database | undefined;
      try {
        // A wait inside of SQLite would keep the writer of this process from ending its transaction.
        db = new Database(file, { timeout: 0 });
        if (step(db)) return;
      } catch (error) {
        if (!(error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)))
          throw toFailure(error, 'the database was not rewritten', file);
      } finally {
        db?.close();
      }
      if (performance.now() > end)
        throw new StoreFailure(`${file} was not rewritten, because it is always in use: repeat the erasure`);
      await sleep(RETRY_MS);
    }
  };
  await attempt(db => {
    db.pragma('secure_delete = ON');
    db.exec('VACUUM');
    return true;
  });
  await attempt(db => (db.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[])[0]?.busy === 0);
}
