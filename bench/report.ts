/** A row of the table: a figure beside what it is held against. */
export interface Row {
  readonly work: string;
  readonly unit: string;
  readonly figure: number;
  /** What it is held against, and its figure in the same run; null where the goal is a bound. */
  readonly floor: { readonly what: string; readonly figure: number } | null;
  /** Each repetition's ratio (or figure, where there is no floor): the spread. */
  readonly samples: readonly number[];
  readonly goal: { readonly atLeast: number } | { readonly atMost: number };
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

export const judged = (row: Row): number => median(row.samples);

export function reached(row: Row): boolean {
  return 'atLeast' in row.goal ? judged(row) >= row.goal.atLeast : judged(row) <= row.goal.atMost;
}

const short = (value: number): string =>
  value >= 1000 ? `${Math.round(value / 100) / 10}k` : value >= 10 ? value.toFixed(0) : value.toFixed(2);

/** As a Markdown table, so that it can be put into the docs as it is. */
export function table(rows: readonly Row[]): string {
  const head = ['work', 'figure', 'held against', 'ratio', 'spread', 'goal', 'reached'];
  const cells = rows.map(row => [
    row.work,
    `${short(row.figure)} ${row.unit}`,
    row.floor ? `${row.floor.what}: ${short(row.floor.figure)}` : '–',
    row.floor ? judged(row).toFixed(2) : short(judged(row)),
    `${short(Math.min(...row.samples))}–${short(Math.max(...row.samples))}`,
    'atLeast' in row.goal ? `≥ ${row.goal.atLeast}` : `≤ ${row.goal.atMost}`,
    reached(row) ? 'yes' : 'NO',
  ]);
  const widths = head.map((name, i) => Math.max(name.length, ...cells.map(row => row[i]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n');
}
