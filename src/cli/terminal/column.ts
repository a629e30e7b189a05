/** The columns of a table. */
import type { Style } from './style.ts';

/** Content of a column, and how it is fitted. */
export interface Column<Row> {
  readonly title: string;
  /** Null is shown as `-`. */
  readonly value: (row: Row) => string | number | null;
  readonly style?: (row: Row) => Style | null;
  readonly align?: 'right';
  /** Where the text is shortened if there is no room; a column without it is never shortened. */
  readonly shorten?: 'end' | 'middle';
  /** Cells of a shortened text that remain (8). */
  readonly least?: number;
  /** If even shortened columns do not fit, those with the highest number are left out first; without a number, never. */
  readonly drop?: number;
}

/** A column with what it shows: the title first, then a text and a style per row. */
export interface FilledColumn<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  readonly styles: readonly (Style | null)[];
  /** No row has a value. */
  readonly isEmpty: boolean;
}
