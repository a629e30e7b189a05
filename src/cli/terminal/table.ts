/** Tables: which columns, how wide, and what is shortened to fit the terminal, where cli-table3 draws them. */
import type { Paint, Style } from './style.ts';
import { safe } from './text.ts';
import { shorten, width } from './width.ts';

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

const gap = '  ';
const usualLeast = 8;
/** cli-table3 takes time with the square of the rows. All blocks of a table have the same widths. */
const blockRows = 20;
const empty = '-';

/** A column with its texts, the title first. */
interface Fit<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  readonly least: number;
  /** See `Column`; a column without any value is left out before all others. */
  readonly drop: number;
  width: number;
}

/** Lines of the table, each with its line feed; `room` is the width of the terminal in cells, infinite without one. */
export async function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  room: number,
  paint: Paint,
  withHeader = true,
): Promise<string> {
  const fits = fitted(
    columns.map(column => measured(column, rows)),
    room,
  );
  const lines: string[][] = [];
  for (let index = withHeader ? 0 : 1; index <= rows.length; index++)
    lines.push(fits.map(fit => cellOf(fit, index, rows, paint)));
  // For a page of 20 rows cli-table3 takes 10 ms, half as long as Node takes to start. Scripts that call devmgr in a loop do
  // not pay for that: without a terminal the same lines are padded here.
  const drawn = room === Number.POSITIVE_INFINITY ? padded(fits, lines) : await drawnByLibrary(fits, lines);
  // The last column is padded too, which neither a script nor a terminal needs.
  return drawn.map(line => `${line.trimEnd()}\n`).join('');
}

function padded<Row>(fits: readonly Fit<Row>[], lines: readonly string[][]): string[] {
  const cell = (text: string, { column, width: cells }: Fit<Row>) => {
    const space = ' '.repeat(Math.max(0, cells - width(text)));
    return column.align === 'right' ? space + text : text + space;
  };
  return lines.map(texts => texts.map((text, at) => cell(text, fits[at]!)).join(gap));
}

const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid'].flatMap(side =>
    ['', '-mid', '-left', '-right'].map(end => [side + end, '']),
  ),
);

async function drawnByLibrary<Row>(fits: readonly Fit<Row>[], lines: readonly string[][]): Promise<string[]> {
  const { default: Table } = await import('cli-table3');
  const options = {
    chars: { ...noLines, middle: gap },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: fits.map(fit => fit.width),
    colAligns: fits.map(({ column }) => column.align ?? ('left' as const)),
  };
  const drawn: string[] = [];
  for (let start = 0; start < lines.length; start += blockRows) {
    const block = new Table(options);
    block.push(...lines.slice(start, start + blockRows));
    drawn.push(...block.toString().split('\n'));
  }
  return drawn;
}

function measured<Row>(column: Column<Row>, rows: readonly Row[]): Fit<Row> {
  const texts = [column.title, ...rows.map(row => safe(String(column.value(row) ?? empty)))];
  const natural = texts.reduce((widest, text) => Math.max(widest, width(text)), 0);
  const least = column.shorten ? Math.min(natural, column.least ?? usualLeast) : natural;
  const isEmpty = rows.length > 0 && texts.slice(1).every(text => text === empty);
  const drop = column.drop === undefined ? 0 : column.drop + (isEmpty ? 1000 : 0);
  return { column, texts, least, drop, width: natural };
}

function cellOf<Row>({ column, texts, width }: Fit<Row>, index: number, rows: readonly Row[], paint: Paint): string {
  const style = index === 0 ? 'bold' : (column.style?.(rows[index - 1]!) ?? null);
  return paint(style, shorten(texts[index]!, width, column.shorten ?? 'end'));
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1));

/** Leaves out columns that may be left out, then shortens those that may be shortened, the widest first. */
function fitted<Row>(all: readonly Fit<Row>[], room: number): Fit<Row>[] {
  const fits = [...all];
  while (total(fits.map(fit => fit.least)) > room) {
    const victim = fits.reduce((worst, fit) => (fit.drop > worst.drop ? fit : worst));
    if (!victim.drop) break;
    fits.splice(fits.indexOf(victim), 1);
  }
  for (let excess = total(fits.map(fit => fit.width)) - room; excess > 0; excess--) {
    const widest = fits
      .filter(fit => fit.width > fit.least)
      .reduce<Fit<Row> | null>((most, fit) => (most === null || fit.width > most.width ? fit : most), null);
    if (!widest) break;
    widest.width--;
  }
  return fits;
}
