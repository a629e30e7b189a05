/** Tables that fit the terminal. */
import type { Paint, Style } from './style.ts';
import { safe } from './text.ts';
import { shorten, width, wrapped } from './width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null;
  readonly style?: (row: Row) => Style | null;
  readonly align?: 'right';
  /** Where the text is shortened when there is no room; a column without it is never shortened. */
  readonly shorten?: 'end' | 'middle';
  /** Cells that are left of a shortened text (8). */
  readonly least?: number;
  /** Columns with the highest number go first when there is no room even for shortened ones; 0 stays. */
  readonly drop?: number;
}

const gap = 2;
const usualLeast = 8;
const empty = '-';

interface Cells<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  readonly natural: number;
  readonly least: number;
  /** Which column goes first where there is no room: one without any value before all others. */
  readonly drop: number;
  width: number;
}

/** Lines of the table, each with its line feed; `columns` is the room there is, in cells. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  room: number,
  paint: Paint,
  withHeader = true,
): string {
  const texts = columns.map(column => [column.title, ...rows.map(row => safe(String(column.value(row) ?? empty)))]);
  const cells = columns.map((column, index): Cells<Row> => {
    const own = texts[index]!;
    const natural = own.reduce((widest, text) => Math.max(widest, width(text)), 0);
    const least = column.shorten ? Math.min(natural, column.least ?? usualLeast) : natural;
    const isEmpty = own.length > 1 && own.slice(1).every(text => text === empty);
    const drop = column.drop === undefined ? 0 : column.drop + (isEmpty ? columns.length : 0);
    return { column, texts: own, natural, least, drop, width: natural };
  });
  const kept = fitted(cells, room);
  const line = (index: number) =>
    kept
      .map((cell, place) => {
        const text = shorten(cell.texts[index]!, cell.width, cell.column.shorten ?? 'end');
        const padding = ' '.repeat(Math.max(0, cell.width - width(text)));
        const style = index === 0 ? 'bold' : (cell.column.style?.(rows[index - 1]!) ?? null);
        const painted = paint(style, text);
        if (cell.column.align === 'right') return padding + painted;
        return place === kept.length - 1 ? painted : painted + padding;
      })
      .join(' '.repeat(gap));
  const first = withHeader ? 0 : 1;
  return Array.from({ length: rows.length + 1 - first }, (_, index) => `${line(index + first)}\n`).join('');
}

const total = (cells: readonly { width: number }[]) =>
  cells.reduce((sum, cell) => sum + cell.width, gap * (cells.length - 1));

/** Gives up columns that may go, then width of those that may be shortened, the widest first. */
function fitted<Row>(cells: readonly Cells<Row>[], room: number): Cells<Row>[] {
  const kept = [...cells];
  const shortest = () => total(kept.map(cell => ({ width: cell.least })));
  while (shortest() > room) {
    const victim = kept.reduce((worst, cell) => (cell.drop > worst.drop ? cell : worst));
    if (!victim.drop) break;
    kept.splice(kept.indexOf(victim), 1);
  }
  for (let excess = total(kept) - room; excess > 0; excess--) {
    const widest = kept
      .filter(cell => cell.width > cell.least)
      .reduce<Cells<Row> | null>((most, cell) => (most === null || cell.width > most.width ? cell : most), null);
    if (!widest) break;
    widest.width--;
  }
  return kept;
}

/** `label  value` lines of one thing; a value that is wider than the room goes on below itself. */
export function card(rows: readonly (readonly [label: string, value: string])[], room: number): string {
  const widest = rows.reduce((most, [label]) => Math.max(most, label.length), 0) + gap;
  const value = (text: string) =>
    text
      .split('\n')
      .flatMap(line => wrapped(line, room - widest))
      .join(`\n${' '.repeat(widest)}`);
  return rows.map(([label, text]) => `${`${label}:`.padEnd(widest)}${value(text)}\n`).join('');
}
