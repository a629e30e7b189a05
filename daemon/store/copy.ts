/** How a registry moves from one engine to another: row by row, in the order of the numbers, verbatim. */
import { namesIn } from '../../src/contract/names.ts';
import type { StoredHead } from './journal-end.ts';

/** In an order in which rows refer to earlier ones only. Responses to keyed requests are left out: they last a day. */
export const copiedTables = namesIn(
  'user device app backup service_token passkey person credential receipt identity proof document webhook_progress sso_session refused_request leaver_case event',
);
export type CopiedTable = (typeof copiedTables)[number];

/** The column that orders a table. */
export const keyColumn = (table: CopiedTable): string => (table === 'event' ? 'id' : 'number');

/** A row as engines exchange it: booleans are 0 or 1, tags are a JSON object as text. */
export type CopiedRow = readonly (number | string | null)[];

/** Which rows to read: those after a key, ascending, at most `limit`. */
export interface RowRange {
  readonly columns: readonly string[];
  readonly after: number;
  readonly limit: number;
  /** Only rows that have one of these values. */
  readonly among?: { readonly column: string; readonly values: readonly string[] } | undefined;
}

/** The rows of a registry as it is at one moment, as engines exchange them. */
export interface StoredRows {
  /** The end of the journal; null if nothing was ever written. */
  head(): Promise<StoredHead | null>;
  /** Names of the columns, sorted; none if the table does not exist. */
  columns(table: CopiedTable): Promise<readonly string[]>;
  /** The last key; 0 if the table is empty. */
  last(table: CopiedTable): Promise<number>;
  /** Each row has its values in the order of `columns`. */
  rows(table: CopiedTable, range: RowRange): Promise<readonly CopiedRow[]>;
  /** The only column of the rows of a query in the SQL of the engine. */
  texts(sql: string): Promise<readonly string[]>;
}

/** A registry that is read as it is at one moment. All methods reject with `StoreFailure`. */
export interface CopySource extends StoredRows {
  close(): Promise<void>;
}

/** A registry that is being written. No daemon can use it before `finish`. */
export interface CopyTarget extends CopySource {
  /** The origin that `begin` has stored; null if no copy has begun. */
  copying(): Promise<string | null>;
  /** Stores the origin of the copy, so that only a copy of the same registry can continue it. */
  begin(source: string): Promise<void>;
  /** Adds rows in one transaction. */
  add(table: CopiedTable, columns: readonly string[], rows: readonly CopiedRow[]): Promise<void>;
  /** Computes what follows from the rows: counters, indexes, the end of the journal. */
  complete(head: StoredHead | null): Promise<void>;
  /** Marks the copy as verified, so that a daemon can use it. */
  finish(): Promise<void>;
}

/** Replaces a registry: only `finish` changes it; `close` without `finish` leaves it as it is. No daemon can use it until then. */
export interface Replacement extends CopyTarget {
  /** Creates the schema, or brings it up to date. To be called before all others. */
  prepare(): Promise<void>;
}
