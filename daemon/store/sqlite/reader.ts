import { journalReads } from '../check.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { RegistryReader } from '../maintenance.ts';
import type { Subjects } from '../subjects.ts';
import { openReader } from './open.ts';
import { readerOf, tableReads } from './reads.ts';
import { SqliteRows } from './rows.ts';
import { Statements } from './statements.ts';

/** Opens a database for reading only, beside a running daemon or without one. Throws `StoreFailure` if that fails. */
export function openSqliteReader(subjects: Subjects, file: string, journalKeys: JournalKeyList): RegistryReader {
  const db = openReader(file);
  const statements = new Statements(db);
  return {
    ...readerOf(tableReads(subjects, statements), async read => read()),
    ...journalReads(subjects, journalKeys, async read => {
      db.exec('BEGIN');
      try {
        return await read(new SqliteRows(statements));
      } finally {
        db.exec('COMMIT');
      }
    }),
    close: async () => void db.close(),
  };
}
