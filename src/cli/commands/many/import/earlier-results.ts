/** The rows that an earlier run has done. Results of an earlier run are never lost. */
import { statSync } from 'node:fs';
import { cellText } from '../../../../contract/csv.ts';
import { usage } from '../../../framework/fault.ts';
import { readRecords, tailOf, wholeBytes } from '../../../jobs/result-file.ts';
import { safe } from '../../../terminal/text.ts';
import { type Checkpoint, emptyCheckpoint, type Ledger } from './ledger.ts';
import type { Row } from './row.ts';

/** Bytes. A file with only a header has nothing to lose. */
const maxHeader = 200;

/** Whether the file exists and contains more than a header of results. */
export function hasResults(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size === 0) return false;
  return (
    stats.size > maxHeader || !/^line,serialNumber,[^\n]*\n$/.test(tailOf(file, stats.size, stats.size).toString())
  );
}

/**
 * Skips the rows that an earlier run has done. Null if there was none. Throws a usage fault if its results belong to another
 * input or are truncated.
 */
export async function skipDoneRows(
  rows: AsyncGenerator<Row>,
  { ledger, results }: { readonly ledger: Ledger | null; readonly results: string | null },
): Promise<Checkpoint | null> {
  const earlier = ledger?.read() ?? null;
  if (results === null || (earlier === null && !hasResults(results))) {
    for (let row = 0; row < (earlier?.rows ?? 0); row++) await rows.next();
    return earlier;
  }
  const bytes = earlier?.resultBytes ?? wholeBytes(results);
  if ((statSync(results, { throwIfNoEntry: false })?.size ?? 0) < bytes) throw truncatedResults(results);
  let done: Checkpoint = { ...emptyCheckpoint, resultBytes: bytes };
  for await (const record of readRecords(results, bytes, foreignResults)) {
    const { value: row } = await rows.next();
    const { status } = record;
    if (!row || !isDone(status) || !isResultOf(record, row)) throw foreignResults(results);
    done = { ...done, rows: done.rows + 1, last: row.position, [status]: done[status] + 1 };
  }
  if (earlier === null && done.rows === 0) throw foreignResults(results);
  if (earlier !== null && earlier.rows !== done.rows) throw truncatedResults(results);
  return { ...done, pending: earlier?.pending ?? null };
}

const isDone = (status: unknown): status is 'success' | 'registered' | 'failed' =>
  status === 'success' || status === 'registered' || status === 'failed';

function isResultOf(
  { line, item, serialNumber }: Readonly<Record<string, unknown>>,
  { position, serialNumber: ofRow }: Row,
): boolean {
  return (
    Number(line ?? Number.NaN) === position.line &&
    (item === undefined || item === '' ? undefined : Number(item)) === position.item &&
    comparable(String(serialNumber ?? '')) === comparable(ofRow ?? '')
  );
}

/** CSV and JSON results, of this version and earlier ones, differ in escapes and in the apostrophe before a formula. */
const comparable = (serialNumber: string): string => cellText(safe(serialNumber));

const foreignResults = (file: string) =>
  usage(
    `${file} does not contain results of this input`,
    'name another file with --out, or give --force to start over and keep a copy of the file',
  );

const truncatedResults = (results: string) =>
  usage(
    `${results} no longer contains all results of the interrupted run`,
    'restore it, or give --force to start over',
  );
