import type Database from 'better-sqlite3';
import { openWriter } from '../../daemon/store/sqlite/open.ts';

/**
 * A database as the daemon opens its own: same tables, same settings. That those are durable (WAL, synchronous=FULL) is read back
 * from the connection, and anything else is not a durable baseline.
 */
export async function openDurable(file: string): Promise<Database.Database> {
  const db = await openWriter({ file });
  const journal = db.pragma('journal_mode', { simple: true });
  const synchronous = db.pragma('synchronous', { simple: true });
  if (journal !== 'wal' || synchronous !== 2) throw new Error(`not durable: ${journal}, synchronous=${synchronous}`);
  return db;
}
