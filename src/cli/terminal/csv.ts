import { safe } from './text.ts';

const mustQuote = /[",\r\n]|^\s|\s$/;

/** One cell of CSV; null and undefined are empty. Text that could control a terminal is escaped. */
export function csvCell(value: unknown): string {
  const text = value === null || value === undefined ? '' : safe(String(value));
  return mustQuote.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180, but with line feeds alone. A field without a value is an empty cell. */
export function toCsv(fields: readonly string[], rows: readonly object[], withHeader: boolean): string {
  const lines = rows.map(row => fields.map(field => csvCell((row as Record<string, unknown>)[field])).join(','));
  if (withHeader) lines.unshift(fields.join(','));
  return lines.length ? `${lines.join('\n')}\n` : '';
}
