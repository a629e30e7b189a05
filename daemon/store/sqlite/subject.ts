/** Statements of a subject for SQLite alone. */
import type { ChainedRow } from '../journal-end.ts';
import type { Reads } from '../read/records.ts';
import type { SubjectStreams } from '../store.ts';
import type { StoreTable } from '../table.ts';
import type { Draft } from '../write/draft.ts';
import type { Statements } from './statements.ts';
import type { SqliteTables } from './tables.ts';

/** Writes what a subject keeps beside the rows of a table, and at the end of a transaction. */
// biome-ignore lint/suspicious/noExplicitAny: those of all tables are in one list
export interface BesideRows<R extends object = any> {
  readonly table?: StoreTable<R>;
  /** Whether a new row needs nothing beside it, so that many can be written together. */
  isPlain?(row: R): boolean;
  /** `before`: null if the row was added. */
  written?(before: R | null, after: R): void;
  entered?(row: ChainedRow): void;
  end(draft: Draft): void;
  /** The last transaction was undone: forgets what it has noted. */
  forget?(): void;
}

/** Dependencies of a subject when a store is opened. */
export interface SqliteOpening {
  /** Sees only what is committed. */
  readonly readable: Statements;
  readonly file: string;
  readonly plainLists?: boolean | undefined;
  readonly sliceMs?: number | undefined;
  readonly notice?: ((message: string) => void) | undefined;
}

/** State that a subject keeps in memory while a store is open. */
export interface OpenedSubject {
  /** These take the place of those in SQL. */
  readonly reads: Partial<Reads>;
  readonly streams: Partial<SubjectStreams>;
  /** Called after a transaction has committed and before the promises of its commits resolve. */
  committed(draft: Draft): void;
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface SqliteSubject {
  /** Makes what follows from the rows, after a copy of them. */
  readonly derived?: string;
  /** Queries that return a text for each fault, by a table that databases of earlier versions lack. */
  readonly faults?: { readonly [table: string]: string };
  readonly reads?: (statements: Statements) => Partial<Reads>;
  readonly beside?: (tables: SqliteTables) => BesideRows;
  readonly open?: (opening: SqliteOpening) => OpenedSubject;
}
