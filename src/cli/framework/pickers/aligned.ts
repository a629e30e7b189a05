import { safe } from '../../terminal/text.ts';
import { width } from '../../terminal/width.ts';

/** Rows of cells as lines whose columns are aligned, safe for a terminal. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map(row => row.map(cell => safe(cell)));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map(row => width(row[column] ?? ''))));
  return cells.map(row =>
    row
      .map((cell, column) => cell + ' '.repeat(widths[column]! - width(cell)))
      .join('  ')
      .trimEnd(),
  );
}
