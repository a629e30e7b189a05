import type Database from 'better-sqlite3';
import { isSealed, type JournalKeyList } from '../key-ring.ts';
import type { RegistryReader } from '../maintenance.ts';
import { verifyJournal } from '../write/verify.ts';
import { deviceRows } from './devices.ts';
import { readHead } from './journal.ts';
import { sqlPage } from './lists-sql.ts';
import { openReader } from './open.ts';
import { readerOf, tableReads } from './reads.ts';
import { SqliteRows } from './rows.ts';
import { Statements } from './statements.ts';
import { sqlStatistics } from './statistics.ts';

/** Opens a database for reading only, beside a running daemon or without one. Throws `StoreFailure` if that fails. */
export function openSqliteReader(file: string, journalKeys: JournalKeyList): RegistryReader {
  const db = openReader(file);
  const statements = new Statements(db);
  return {
    ...readerOf(
      {
        ...tableReads(statements),
        devices: query => deviceRows(statements, sqlPage(statements, query)),
        statistics: query => sqlStatistics(statements, query),
      },
      async read => read(),
    ),
    async sealedHead() {
      const head = readHead(statements);
      return head !== null && isSealed(journalKeys, head) ? { id: head.id, mac: head.mac } : null;
    },
    verifyJournal: anchors => atOneMoment(db, () => verifyJournal(new SqliteRows(statements), journalKeys, anchors)),
    close: async () => void db.close(),
  };
}

/** Runs reads in one transaction: others may write at the same time. */
async function atOneMoment<T>(db: Database.Database, read: () => Promise<T>): Promise<T> {
  db.exec('BEGIN');
  try {
    return await read();
  } finally {
    db.exec('COMMIT');
  }
}
