import { cooperatively } from '../../concurrency.ts';
import type { Reader } from '../store.ts';
import { macWith } from './chain.ts';
import { addFunctions, sqlPage } from './lists-sql.ts';
import { openReader } from './open.ts';
import { deviceRows, readerOf, tableReads } from './read.ts';
import { Statements } from './statements.ts';
import { type JournalReport, verifyJournal } from './verify.ts';

export interface SqliteReader extends Reader {
  verifyJournal(): Promise<JournalReport>;
  close(): void;
}

/** Opens a registry for reading alone: beside a daemon that runs, or without one. Rejects with `StoreFailure`. */
export function openSqliteReader(options: { readonly file: string; readonly journalKey: Uint8Array }): SqliteReader {
  const db = openReader(options.file);
  addFunctions(db);
  const statements = new Statements(db);
  return {
    ...readerOf(
      { ...tableReads(statements), devices: query => deviceRows(statements, sqlPage(statements, query)) },
      async read => read(),
    ),
    verifyJournal: () => cooperatively(verifyJournal(statements, macWith(options.journalKey))),
    close: () => db.close(),
  };
}
