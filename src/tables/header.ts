/** Where the header row of a file is, and what separates its cells: title lines may be above it, and Excel may have quoted whole lines. */
import { CsvReader, marks } from './csv-reader.ts';
import type { RawRow } from './raw.ts';

/** Rows that may be title lines, and the header row after them. */
export const mostTitles = 20;

/** A header row that was found. */
export interface Header {
  /** Its cells; null if no row of the file is a header row. */
  readonly names: readonly string[] | null;
  /** Its line, or that of the first row. */
  readonly line: number;
  /** How many names are known. */
  readonly known: number;
  /** Cells of the row. */
  readonly cells: number;
}

type Cells = Extract<RawRow, { readonly cells: unknown }>;

/** Whether all cells are empty. */
export const isBlank = (cells: readonly string[]): boolean => cells.every(cell => cell.trim() === '');
const filled = (cells: readonly string[]): number => cells.filter(cell => cell.trim() !== '').length;

/** The row with most known names, if the rows above it look like titles; else the first row. Null if there are only empty rows. */
export function headerOf(rows: readonly RawRow[], isKnown: (name: string) => boolean): Header | null {
  const lines = rows.filter((row): row is Cells => 'cells' in row && !isBlank(row.cells)).slice(0, mostTitles + 1);
  const [first] = lines;
  if (first === undefined) return null;
  let best: Header = { names: null, line: first.position.line, known: 0, cells: first.cells.length };
  for (const [index, { cells, position }] of lines.entries()) {
    const known = new Set(cells.filter(cell => isKnown(cell)).map(cell => cell.trim())).size;
    if (known <= best.known || (index > 0 && !areTitles(lines.slice(0, index), cells))) continue;
    best = { names: cells, line: position.line, known, cells: cells.length };
  }
  return best;
}

/** Whether rows can be titles above a header: fewer cells, or texts with spaces above a single column. */
const areTitles = (rows: readonly Cells[], header: readonly string[]): boolean =>
  rows.every(
    ({ cells }) => filled(cells) < filled(header) || (filled(header) === 1 && /\s|:/.test(cells.join(' ').trim())),
  );

/** How the lines of a text are split into cells. */
export interface Separation {
  readonly mark: string;
  /** The first line is `sep=;`, as Excel writes it. */
  readonly hasMarkLine: boolean;
  /** Each line is one quoted cell, which has the cells of the line. */
  readonly isWrapped: boolean;
  readonly header: Header | null;
}

const markLine = /^"?sep=(.)"?\s*(?:\n|$)/i;

/** The separation of a text by its first lines. `start` ends with a line end, unless it is the whole text. */
export function separationOf(
  start: string,
  isKnown: (name: string) => boolean,
  skips: (row: RawRow) => boolean,
): Separation {
  const given = markLine.exec(start)?.[1] ?? null;
  let best: Separation | null = null;
  for (const mark of given === null ? marks : [given])
    for (const isWrapped of [false, true]) {
      const rows = rowsOf(start, mark, isWrapped, given !== null).filter(row => !skips(row));
      const found = { mark, hasMarkLine: given !== null, isWrapped, header: headerOf(rows, isKnown) };
      if (best === null || isBetter(found, best)) best = found;
    }
  return best!;
}

/** More known names, then more cells; a wrapped line only for its names. */
function isBetter(one: Separation, other: Separation): boolean {
  const known = (one.header?.known ?? 0) - (other.header?.known ?? 0);
  return known !== 0 || one.isWrapped ? known > 0 : (one.header?.cells ?? 0) > (other.header?.cells ?? 0);
}

function rowsOf(start: string, mark: string, isWrapped: boolean, hasMarkLine: boolean): RawRow[] {
  const rows: RawRow[] = [];
  for (const record of new CsvReader(mark).read(start.endsWith('\n') ? start : `${start}\n`, true)) {
    if (hasMarkLine && record.line === 1) continue;
    const position = { line: record.line };
    if ('cells' in record) rows.push({ position, cells: isWrapped ? unwrapped(record.cells, mark) : record.cells });
    if (rows.length > mostTitles) break;
  }
  return rows;
}

/** The cells in the one cell of a line that was quoted as a whole. */
export function unwrapped(cells: readonly string[], mark: string): readonly string[] {
  if (cells.length !== 1 || !cells[0]!.includes(mark)) return cells;
  const [record] = new CsvReader(mark).read(`${cells[0]}\n`, true);
  return record !== undefined && 'cells' in record ? record.cells : cells;
}
