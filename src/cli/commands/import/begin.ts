/** How a run begins: with the first line, or behind what an earlier run has done. What that one has written is not lost. */
import { accessSync, constants, existsSync, renameSync, statSync } from 'node:fs';
import { Fault, systemWords, usage } from '../../fault.ts';
import type { FileLock } from '../../settings/file-lock.ts';
import { numberOf } from './batch.ts';
import { foreign, isFilled, isOf, type Kept, keptResults, wholeBytes } from './earlier-results.ts';
import { type Checkpoint, Ledger } from './ledger.ts';
import { holdRun } from './lock.ts';
import type { Row } from './rows.ts';

export interface Wanted {
  readonly file: string;
  readonly out: string | undefined;
  readonly resume: boolean;
  readonly force: boolean;
}

/** What is kept of a run beside its results (else beside its input), where there is room for it. */
export interface Keeping {
  readonly lock: FileLock | null;
  readonly ledger: Ledger | null;
  /** The file of results, where it is one that can be gone on with. */
  readonly results: string | null;
}

export const nothingDone: Checkpoint = {
  rows: 0,
  last: { line: 0 },
  success: 0,
  failed: 0,
  resultBytes: 0,
  newest: 0,
};

const isRegular = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** A fault where the input cannot be read, or is the file of the results. */
export function checkInput({ file, out, resume }: Wanted): void {
  if (file !== '-') checkReadable(file);
  if (out === undefined && resume && (file === '-' || !isRegular(file)))
    throw usage(
      `${file === '-' ? 'standard input' : file} can be gone on with only where the results are in a file`,
      'name it with --out FILE, or leave out --resume',
    );
  if (file === '-' || out === undefined || !existsSync(out)) return;
  const [input, results] = [statSync(file), statSync(out)];
  if (input.ino === results.ino && input.dev === results.dev) throw usage(`--out ${out} is the file that is read`);
}

function checkReadable(file: string): void {
  try {
    if (statSync(file).isDirectory()) throw usage(`${file} is a folder, not a file`);
    accessSync(file, constants.R_OK);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw usage(`${file} cannot be read: ${systemWords(error)}`);
  }
}

/** Takes the lock of the run. Nothing is kept where neither results nor input are in a folder that can be written. */
export function keep({ file, out }: Wanted): Keeping {
  const results = out !== undefined && (!existsSync(out) || isRegular(out)) ? out : null;
  const input = file !== '-' && isRegular(file) ? file : null;
  const base = results ?? (out === undefined ? input : null);
  const lock = base === null ? null : holdRun(base);
  return { lock, results, ledger: base === null || lock === null ? null : new Ledger(base, input) };
}

/** Nothing is begun over what an earlier run has left, unless that is wanted. */
export function checkUntouched({ file, out, force }: Wanted, { ledger, results }: Keeping): void {
  if (force) return;
  if (ledger?.exists)
    throw usage(
      `an earlier run of ${file === '-' ? 'standard input' : file} was interrupted`,
      'give --resume to go on where it stopped, or --force to begin anew',
    );
  if (results !== null && isFilled(results))
    throw usage(
      `${out} exists already, and may hold activation codes`,
      'name another file with --out, give --resume to go on with it, or --force to begin anew',
    );
}

/** Puts aside what `--force` would write over; the name that it has now, or null where there was nothing. */
export function putAside(results: string | null): string | null {
  if (results === null || !isFilled(results)) return null;
  let aside = `${results}.before`;
  for (let earlier = 2; existsSync(aside); earlier++) aside = `${results}.before.${earlier}`;
  renameSync(results, aside);
  return aside;
}

/**
 * Passes over the rows that an earlier run has done, and tells how far it came; null where there was none. A fault where
 * its results are not those of this input, or are no longer whole.
 */
export async function passOver(
  rows: AsyncGenerator<Row>,
  { ledger, results }: Keeping,
): Promise<{ readonly done: Checkpoint; readonly sent: boolean } | null> {
  const earlier = ledger?.read() ?? null;
  if (results === null || (earlier === null && !isFilled(results))) {
    if (earlier === null) return null;
    for (let row = 0; row < earlier.rows; row++) await rows.next();
    return { done: earlier, sent: true };
  }
  const bytes = earlier?.resultBytes ?? wholeBytes(results);
  if ((statSync(results, { throwIfNoEntry: false })?.size ?? 0) < bytes) throw shrunk(results);
  let done: Checkpoint = { ...nothingDone, resultBytes: bytes };
  for await (const kept of keptResults(results, bytes)) {
    const { value: row } = await rows.next();
    if (!row || !isOf(kept, row)) throw foreign(results);
    done = counted(done, kept, row);
  }
  if (earlier === null && done.rows === 0) throw foreign(results);
  if (earlier !== null && earlier.rows !== done.rows) throw shrunk(results);
  return { done: earlier === null ? done : { ...done, newest: earlier.newest }, sent: earlier !== null };
}

const counted = (done: Checkpoint, kept: Kept, row: Row): Checkpoint => ({
  ...done,
  rows: done.rows + 1,
  last: row.place,
  success: done.success + (kept.status === 'success' ? 1 : 0),
  failed: done.failed + (kept.status === 'failed' ? 1 : 0),
  newest: Math.max(done.newest, numberOf(kept.deviceId)),
});

const shrunk = (results: string) =>
  usage(
    `${results} no longer holds what the interrupted run has written to it`,
    'put it back, or give --force to begin anew',
  );
