/** Tables. On a terminal they are fitted to its width; elsewhere every text is shown in full. */
import type { Column, FilledColumn } from './column.ts';
import type { Paint } from './style.ts';
import { safe } from './text.ts';

/** Between two columns. */
const gap = '  ';
/** Shown if a row has no value. */
const empty = '-';
const ascii = /^[\x20-\x7e]*$/;

/**
 * Lines of the table, each with its line feed. `room` is the width of the terminal in cells, infinite without one; `onHidden` gets
 * the columns with values that have no room.
 */
export async function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  room: number,
  paint: Paint,
  withHeader = true,
  onHidden: (titles: readonly string[]) => void = () => undefined,
): Promise<string> {
  const filled = columns.map(column => fill(column, rows));
  const lines = room === Number.POSITIVE_INFINITY ? padded(filled, paint) : fitted(filled, room, paint, onHidden);
  // The last column is padded too, which neither a script nor a terminal needs.
  return (await lines)
    .slice(withHeader ? 0 : 1)
    .map(line => `${line.trimEnd()}\n`)
    .join('');
}

function fill<Row>(column: Column<Row>, rows: readonly Row[]): FilledColumn<Row> {
  const texts = rows.map(row => safe(String(column.value(row) ?? empty)));
  return {
    column,
    texts: [column.title, ...texts],
    styles: ['bold', ...rows.map(row => column.style?.(row) ?? null)],
    isEmpty: texts.length > 0 && texts.every(text => text === empty),
  };
}

/** cli-table3 takes 10 ms for a page of 20 rows, half as long as Node takes to start: only people wait for that. */
async function fitted<Row>(
  filled: readonly FilledColumn<Row>[],
  room: number,
  paint: Paint,
  onHidden: (titles: readonly string[]) => void,
): Promise<string[]> {
  const { drawn } = await import('./fitted-table.ts');
  return drawn(filled, { room, gap, paint, onHidden });
}

/** A table as cli-table3 would draw it without a limit, for scripts that call devmgr in a loop. */
async function padded<Row>(filled: readonly FilledColumn<Row>[], paint: Paint): Promise<string[]> {
  const width = filled.every(({ texts }) => texts.every(text => ascii.test(text)))
    ? (text: string) => text.length
    : (await import('./width.ts')).width;
  const cells = filled.map(({ column, texts, styles }) => {
    const widths = texts.map(width);
    const widest = Math.max(...widths);
    return texts.map((text, index) => {
      const space = ' '.repeat(widest - widths[index]!);
      const painted = paint(styles[index]!, text);
      return column.align === 'right' ? space + painted : painted + space;
    });
  });
  return filled[0]!.texts.map((_, index) => cells.map(column => column[index]).join(gap));
}
