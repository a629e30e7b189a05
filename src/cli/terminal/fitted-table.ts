/** A table as wide as the terminal: which columns, how wide, and what is shortened. cli-table3 draws it. */
import Table from 'cli-table3';
import type { FilledColumn } from './column.ts';
import type { Paint } from './style.ts';
import { shorten, width } from './width.ts';

const usualLeast = 8;
/** cli-table3 takes time with the square of the rows. All blocks of a table have the same widths. */
const blockRows = 20;
/** More than any number of a column. */
const beforeAllOthers = 1000;

interface Layout {
  /** Width of the terminal in cells. */
  readonly room: number;
  /** Spaces between two columns. */
  readonly gap: string;
  readonly paint: Paint;
  /** Called if columns with values are left out. */
  readonly onHidden: (titles: readonly string[]) => void;
}

interface Fit<Row> extends FilledColumn<Row> {
  readonly least: number;
  /** As in `Column`; a column without any value is left out before all others. */
  readonly drop: number;
  width: number;
}

const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid'].flatMap(side =>
    ['', '-mid', '-left', '-right'].map(end => [side + end, '']),
  ),
);

/** The lines of the table, the titles first. */
export function drawn<Row>(filled: readonly FilledColumn<Row>[], { room, gap, paint, onHidden }: Layout): string[] {
  const fits = fitTo(room, gap, filled.map(measured));
  const hidden = filled.filter(({ column, isEmpty }) => !isEmpty && fits.every(fit => fit.column !== column));
  if (hidden.length > 0) onHidden(hidden.map(({ column }) => column.title));
  const rows = fits[0]!.texts.map((_, index) => fits.map(column => cellOf(column, index, paint)));
  const options = {
    chars: { ...noLines, middle: gap },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: fits.map(column => column.width),
    colAligns: fits.map(({ column }) => column.align ?? ('left' as const)),
  };
  const lines: string[] = [];
  for (let start = 0; start < rows.length; start += blockRows) {
    const block = new Table(options);
    block.push(...rows.slice(start, start + blockRows));
    lines.push(...block.toString().split('\n'));
  }
  return lines;
}

function measured<Row>(filled: FilledColumn<Row>): Fit<Row> {
  const { column, texts, isEmpty } = filled;
  const natural = texts.reduce((widest, text) => Math.max(widest, width(text)), 0);
  const least = column.shorten ? Math.min(natural, column.least ?? usualLeast) : natural;
  const drop = column.drop === undefined ? 0 : column.drop + (isEmpty ? beforeAllOthers : 0);
  return { ...filled, least, drop, width: natural };
}

function cellOf<Row>({ column, texts, styles, width }: Fit<Row>, index: number, paint: Paint): string {
  return paint(styles[index]!, shorten(texts[index]!, width, column.shorten ?? 'end'));
}

const total = (gap: string, widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1));

/** Leaves out columns that may be left out, then shortens those that may be shortened, the widest first. */
function fitTo<Row>(room: number, gap: string, all: readonly Fit<Row>[]): Fit<Row>[] {
  const fits = [...all];
  while (
    total(
      gap,
      fits.map(column => column.least),
    ) > room
  ) {
    const victim = fits.reduce((worst, column) => (column.drop > worst.drop ? column : worst));
    if (!victim.drop) break;
    fits.splice(fits.indexOf(victim), 1);
  }
  for (
    let excess =
      total(
        gap,
        fits.map(column => column.width),
      ) - room;
    excess > 0;
    excess--
  ) {
    const widest = fits
      .filter(column => column.width > column.least)
      .reduce<Fit<Row> | null>((most, column) => (most === null || column.width > most.width ? column : most), null);
    if (!widest) break;
    widest.width--;
  }
  return fits;
}
