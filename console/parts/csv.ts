/** CSV as the command line and the daemon write it. */
import { csvCell } from '../../src/contract/csv.ts';

/** A file with a header and a line for each row. Null becomes an empty cell. */
export function csvFile(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): Blob {
  const lines = [header, ...rows].map(row => `${row.map(cell => csvCell(`${cell ?? ''}`)).join(',')}\r\n`);
  return new Blob(lines, { type: 'text/csv' });
}
