/** Rewrites a database, so that free pages and the log have nothing of what was deleted. */
import Database from 'better-sqlite3';
import { poll } from '../../../src/delivery/wait.ts';
import { StoreFailure } from '../commit.ts';
import { toFailure } from './failure.ts';

/** Milliseconds between two attempts, and of all attempts together. */
const RETRY_MS = 50;
const PATIENCE_MS = 60_000;

/** Waits for a moment without a transaction. The process does nothing else while it rewrites. */
export async function rewriteDatabase(file: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  const carryOut = async (step: (db: Database.Database) => boolean) => {
    const isDone = await poll(() => attempt(file, step) || null, {
      everyMs: RETRY_MS,
      forMs: end - performance.now(),
    });
    if (!isDone) throw new StoreFailure(`${file} was not rewritten, because it is always in use: repeat the erasure`);
  };
  await carryOut(db => {
    db.pragma('secure_delete = ON');
    db.exec('VACUUM');
    return true;
  });
  await carryOut(db => (db.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[])[0]?.busy === 0);
}

/** Whether a step was carried out. A wait inside of SQLite would keep the writer of this process from ending its transaction. */
function attempt(file: string, step: (db: Database.Database) => boolean): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0 });
    return step(db);
  } catch (error) {
    if (error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)) return false;
    throw toFailure(error, 'the database was not rewritten', file);
  } finally {
    db?.close();
  }
}
