/** Counts with bars, as lines of text. */
import { count as grouped } from '../count.ts';
import type { Output } from './output.ts';
import type { Style } from './style.ts';
import { safe } from './text.ts';
import { shorten, width } from './width.ts';

/** Cells of the longest bar. */
const mostBar = 60;
/** Cells that a name keeps, however narrow the terminal is. */
const leastName = 16;
/** Before and between name, number and bar. */
const spaces = 6;

export interface BarRow {
  readonly name: string;
  readonly count: number;
}

/** Where the lines are shown: cells of a line, infinite without a terminal, and its colors. */
export interface BarScreen {
  readonly columns: number;
  readonly paint: Output['paint'];
}

/** A title, and a line for each count, with bars as wide as there is room for; without a terminal there are no bars. */
export function bars(
  { columns, paint }: BarScreen,
  title: string,
  rows: readonly BarRow[],
  style: (name: string) => Style | null = () => 'cyan',
): string {
  const number = Math.max(...rows.map(row => grouped(row.count).length));
  const names = rows.map(row => shorten(safe(row.name), Math.max(leastName, Math.floor(columns / 3)), 'end'));
  const widest = Math.max(...names.map(width));
  const room = Number.isFinite(columns) ? Math.min(mostBar, columns - widest - number - spaces) : 0;
  const most = Math.max(1, ...rows.map(row => row.count));
  const lines = rows.map(({ name, count }, at) => {
    const start = `  ${names[at]}${' '.repeat(widest - width(names[at]!))}  ${grouped(count).padStart(number)}`;
    const cells = count === 0 || room <= 0 ? 0 : Math.max(1, Math.round((count / most) * room));
    return cells === 0 ? start : `${start}  ${paint(style(name), '█'.repeat(cells))}`;
  });
  return `\n${paint('bold', title)}\n${lines.join('\n')}\n`;
}
