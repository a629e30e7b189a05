import { keyedFilter } from '../../devices/filters.ts';
import { sqlPage } from '../../devices/sqlite/lists-sql.ts';
import { deviceRows } from '../../devices/sqlite/rows.ts';
import { sqlStatistics } from '../../devices/sqlite/statistics.ts';
import { journalReads } from '../check.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { RegistryReader } from '../maintenance.ts';
import { openReader } from './open.ts';
import { readerOf, tableReads } from './reads.ts';
import { SqliteRows } from './rows.ts';
import { Statements } from './statements.ts';

/** Opens a database for reading only, beside a running daemon or without one. Throws `StoreFailure` if that fails. */
export function openSqliteReader(file: string, journalKeys: JournalKeyList): RegistryReader {
  const db = openReader(file);
  const statements = new Statements(db);
  return {
    ...readerOf(
      {
        ...tableReads(statements),
        devices: query => deviceRows(statements, sqlPage(statements, keyedFilter(query))),
        statistics: query => sqlStatistics(statements, query),
      },
      async read => read(),
    ),
    ...journalReads(journalKeys, async read => {
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
