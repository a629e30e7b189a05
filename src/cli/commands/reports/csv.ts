/** A report as CSV: a row for each figure. */
import { toCsv } from '../../terminal/csv.ts';
import type { Figures } from './figures.ts';
import { factsOf, sectionsOf } from './sections.ts';

/** The columns `section`, `name` and `value`. Values are plain numbers, and times ISO 8601 in UTC. */
export function reportCsv(figures: Figures): string {
  const filters = Object.entries(figures.criteria).flatMap(([name, values]) =>
    [values].flat().map(value => ({ section: 'filter', name, value })),
  );
  const made = { section: 'total', name: 'generated', value: figures.generatedAt };
  const facts = factsOf(figures).map(({ id, value }) => ({ section: 'total', name: id, value }));
  const counts = sectionsOf(figures).flatMap(({ id, rows }) =>
    rows.map(({ name, count }) => ({ section: id, name, value: count })),
  );
  const rates = sectionsOf(figures).flatMap(({ rows }) =>
    rows.flatMap(({ name, perHour }) =>
      perHour === undefined ? [] : { section: 'keys-per-hour', name, value: perHour },
    ),
  );
  return toCsv(['section', 'name', 'value'], [...filters, made, ...facts, ...counts, ...rates], true);
}
