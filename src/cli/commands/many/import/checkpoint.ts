/** How far a run of `register --file` got, and the rows that an earlier run has done. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { cellText } from '../../../../contract/csv.ts';
import { columnsOf, type LineResult } from '../../../../enrollment/import/result.ts';
import type { Row } from '../../../../enrollment/import/row.ts';
import type { Position } from '../../../../tables/raw.ts';
import type { Context } from '../../../framework/context.ts';
import { isRegular, nameOf } from '../../../jobs/input-file.ts';
import { isCount, type JobDescription, type JobFiles } from '../../../jobs/job-files.ts';
import { tailOf } from '../../../jobs/result-file.ts';
import { safe } from '../../../terminal/text.ts';
import type { FileValues } from './flags.ts';

/** How far a run got. */
export interface Checkpoint {
  /** Rows from the start of the input that have results. */
  readonly rows: number;
  /** Position of the last of them. */
  readonly last: Position;
  readonly success: number;
  /** Rows that were registered before and are done for `--skip-existing`. */
  readonly registered: number;
  /** Rows that repeat an earlier one. */
  readonly repeated: number;
  readonly failed: number;
  /** The idempotency key and the number of rows of the batch that follows; null if it was not sent. */
  readonly pending: { readonly key: string; readonly rows: number } | null;
}

/** The checkpoint of a run that has done nothing yet. */
export const emptyCheckpoint: Checkpoint = {
  rows: 0,
  last: { line: 0 },
  success: 0,
  registered: 0,
  repeated: 0,
  failed: 0,
  pending: null,
};

/** The files of a run. */
export type ImportFiles = JobFiles<LineResult, Checkpoint>;

/** A run of `register --file` as a job. */
export function jobOf(
  context: Context,
  { file, out, activate }: Pick<FileValues, 'file' | 'out' | 'activate'>,
): JobDescription<LineResult> {
  const job = inputJob(context, file, out, columnsOf(activate));
  return {
    ...job,
    identity: { ...job.identity, activate },
    refusalOf(stored) {
      const { activate: wasActivating = false } = stored;
      const words = `the interrupted run was ${activate ? 'without' : 'with'} --activate`;
      return job.refusalOf(stored) ?? (wasActivating === activate ? null : words);
    },
    isProgress: isCheckpoint,
  };
}

/** A job whose progress is that of an input, which must not change. A stream cannot be compared. */
export function inputJob<Result extends object>(
  { globals }: Context,
  file: string,
  out: string | undefined,
  columns: JobDescription<Result>['columns'],
): Omit<JobDescription<Result>, 'isProgress'> {
  const input = file !== '-' && isRegular(file) ? file : null;
  const fingerprint = input === null ? 'none' : fingerprintOf(input);
  const name = nameOf(input ?? '-');
  return {
    out,
    input,
    asJson: globals.json,
    columns,
    content: 'results of this input',
    startOver: 'name another file with --out or give --force',
    identity: { input: name, fingerprint },
    refusalOf: stored =>
      stored.fingerprint === fingerprint
        ? null
        : `${name} is not the input of the interrupted run, or has changed since`,
  };
}

/** A checkpoint of an earlier version may lack `registered`, `repeated` and `pending`. */
function isCheckpoint(stored: object): boolean {
  const { rows, last, success, registered = 0, repeated = 0, failed, pending } = stored as Partial<Checkpoint>;
  const isPending = !pending || (typeof pending.key === 'string' && isCount(pending.rows));
  return isPending && [rows, last?.line, success, registered, repeated, failed].every(isCount);
}

const headBytes = 1024 * 1024;

/** Changes if the size or the first MiB of the file changes. */
function fingerprintOf(file: string): string {
  const { size } = statSync(file);
  const length = Math.min(size, headBytes);
  return `${size}:${createHash('sha256')
    .update(tailOf(file, length, length))
    .digest('hex')}`;
}

/** Skips the rows that an earlier run has done. Null if there was none. Throws a usage fault if its results belong to another input. */
export async function skipDoneRows(rows: AsyncGenerator<Row>, files: ImportFiles): Promise<Checkpoint | null> {
  const stored = files.interrupted();
  let done = emptyCheckpoint;
  for await (const record of files.earlier()) {
    const { value: row } = await rows.next();
    const { status } = record;
    if (!row || !isDone(status) || !isResultOf(record, row)) throw files.foreign();
    done = { ...done, rows: done.rows + 1, last: row.position, [status]: done[status] + 1 };
  }
  if (stored === null) return done.rows === 0 ? null : done;
  const { pending = null, registered = 0, repeated = 0 } = stored;
  if (files.results === null) {
    for (let row = 0; row < stored.rows; row++) await rows.next();
    const { rows: before, last, success, failed } = stored;
    return { rows: before, last, success, registered, repeated, failed, pending };
  }
  if (stored.rows !== done.rows) throw files.truncated();
  return { ...done, pending };
}

const done = ['success', 'registered', 'repeated', 'failed'] as const;
const isDone = (status: unknown): status is (typeof done)[number] => done.some(known => known === status);

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
