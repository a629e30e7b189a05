import { csvCell } from '../../contract/csv.ts';
import { safe } from './text.ts';

/**
 * Rows as CSV: RFC 4180, but with line feeds alone. A missing value is an empty cell. A cell can neither control a terminal nor
 * run in a spreadsheet; `register --file` reads it back.
 */
export function toCsv(fields: readonly string[], rows: readonly object[], withHeader: boolean): string {
  const lines = rows.map(row =>
    fields.map(field => csvCell(safe(String((row as Record<string, unknown>)[field] ?? '')))).join(','),
  );
  if (withHeader) lines.unshift(fields.join(','));
  return lines.length ? `${lines.join('\n')}\n` : '';
}
