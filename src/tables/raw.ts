/** Rows as a format has them, before columns are known. */

/** Format of a file. `csv` is any text with separators. */
export type TableFormat = 'csv' | 'json' | 'jsonl' | 'ldif' | 'pskc' | 'sim' | 'xlsx';

/** Where a row or its result is in the input. */
export interface Position {
  /** Counted from 1. */
  readonly line: number;
  /** Which element of a JSON array, counted from 1: a whole array may be on one line. */
  readonly item?: number;
}

/** `line 7`, or `item 7` of an array. */
export const positionText = ({ line, item }: Position): string =>
  item === undefined ? `line ${line}` : `item ${item}`;

/** Cells of a line, an object with properties, or a line that cannot be read. */
export type RawRow = { readonly position: Position } & (
  | { readonly cells: readonly string[] }
  | { readonly object: Readonly<Record<string, unknown>> }
  | { readonly problem: string }
);

/** Rows in groups, as the input arrives. */
export type RawRows = AsyncGenerator<readonly RawRow[]>;
