/** A row of the table: a figure and its baseline. */
export interface Row {
  readonly work: string;
  readonly unit: string;
  readonly figure: number;
  /** The row that it is compared with, and its figure in the same run; null if the goal is a bound. */
  readonly floor: { readonly what: string; readonly figure: number } | null;
  /** Each repetition's ratio (or figure, without a baseline): the spread. */
  readonly samples: readonly number[];
  readonly goal: { readonly atLeast: number } | { readonly atMost: number };
  /** Other observations that a judge of the figure has to know. */
  readonly note?: string;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** A figure and its floor, measured one after the other, once for each repetition. */
export type Pair = readonly [figure: number, floor: number];

/** Held against a floor. */
export function ratio(
  work: string,
  unit: string,
  pairs: readonly Pair[],
  what: string,
  goal: Row['goal'],
  note?: string,
): Row {
  return {
    work,
    unit,
    figure: median(pairs.map(([figure]) => figure)),
    floor: { what, figure: median(pairs.map(([, floor]) => floor)) },
    samples: pairs.map(([figure, floor]) => figure / floor),
    goal,
    ...(note ? { note } : {}),
  };
}

/** Held against a bound. */
export function bound(work: string, unit: string, samples: readonly number[], atMost: number, note?: string): Row {
  return { work, unit, figure: median(samples), floor: null, samples, goal: { atMost }, ...(note ? { note } : {}) };
}

/** The figure that is compared with the goal: the middle of the repetitions. */
export const judged = (row: Row): number => median(row.samples);

export function reached(row: Row): boolean {
  return 'atLeast' in row.goal ? judged(row) >= row.goal.atLeast : judged(row) <= row.goal.atMost;
}

export const short = (value: number): string =>
  value >= 10_000
    ? `${Math.round(value / 1000)}k`
    : value >= 1000
      ? `${Math.round(value / 100) / 10}k`
      : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** As a Markdown table, so that it can be put into the docs as it is. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map(row => [
    row.work,
    `${short(row.figure)} ${row.unit}`,
    row.floor ? `${row.floor.what}: ${short(row.floor.figure)}` : '–',
    row.floor ? judged(row).toFixed(2) : '–',
    `${short(Math.min(...row.samples))}–${short(Math.max(...row.samples))}`,
    'atLeast' in row.goal ? `≥ ${row.goal.atLeast}` : `≤ ${row.goal.atMost}${row.floor ? '' : ` ${row.unit}`}`,
    reached(row) ? 'yes' : 'NO',
  ]);
  const notes = rows.filter(row => row.note).map(row => `- ${row.work}: ${row.note}`);
  return [
    markdown(['work', 'figure', 'baseline', 'ratio', 'spread', 'goal', 'reached'], cells),
    ...(notes.length ? ['', ...notes] : []),
  ].join('\n');
}

export function markdown(head: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...cells.map(row => row[i]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head), `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n');
}
