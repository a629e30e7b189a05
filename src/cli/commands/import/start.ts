/** Checks before a run starts, and the rows that an earlier run has done. Results of an earlier run are never lost. */
import { accessSync, constants, existsSync, renameSync, statSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { Fault, systemCode, systemWords, usage } from '../../fault.ts';
import { type FileLock, tryLock } from '../../settings/file-lock.ts';
import { numberOf } from './batch.ts';
import {
  foreignResults,
  hasResults,
  isResultOf,
  readResults,
  type StoredResult,
  wholeBytes,
} from './earlier-results.ts';
import { type Checkpoint, Ledger } from './ledger.ts';
import type { Row } from './row.ts';

/** The flags that say what a run reads and writes. */
export interface RunOptions {
  readonly file: string;
  readonly out: string | undefined;
  readonly resume: boolean;
  readonly force: boolean;
}

/** The files of a run beside its results, or beside its input if the results have no file. */
export interface RunFiles {
  /** Null if the folder is not writable. */
  readonly lock: FileLock | null;
  /** Null if the folder is not writable. */
  readonly ledger: Ledger | null;
  /** The file of results, if a later run can continue it; null for a pipe or a device. */
  readonly results: string | null;
}

/** The checkpoint of a run that has done nothing yet. */
export const emptyCheckpoint: Checkpoint = {
  rows: 0,
  last: { line: 0 },
  success: 0,
  registered: 0,
  failed: 0,
  resultBytes: 0,
  newest: 0,
};

/** Whether a regular file has this name. */
export const isRegular = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** Throws a usage fault if the input is not readable, cannot be resumed, or is also the file of results. */
export function checkInput({ file, out, resume }: RunOptions): void {
  if (file !== '-') checkReadable(file);
  if (out === undefined && resume && (file === '-' || !isRegular(file)))
    throw usage(
      `${file === '-' ? 'standard input' : file} can be resumed only if the results are in a file`,
      'name it with --out FILE, or omit --resume',
    );
  if (file === '-' || out === undefined || !existsSync(out)) return;
  const [input, results] = [statSync(file), statSync(out)];
  if (input.ino === results.ino && input.dev === results.dev) throw usage(`--out ${out} is the input file`);
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

/** Locks the run. Throws a fault if another run holds the lock. */
export function openRunFiles({ file, out }: RunOptions): RunFiles {
  const results = out !== undefined && (!existsSync(out) || isRegular(out)) ? out : null;
  const input = file !== '-' && isRegular(file) ? file : null;
  const base = results ?? (out === undefined ? input : null);
  const lock = base === null ? null : lockRun(base);
  return { lock, results, ledger: base === null || lock === null ? null : new Ledger(base, input) };
}

/** System errors of a folder that cannot hold a lock. */
const notWritable: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/** One run at a time per results file `base`: two would overwrite each other's activation codes. */
export function lockRun(base: string): FileLock | null {
  const file = `${base}.resume.lock`;
  try {
    const lock = tryLock(file);
    if ('release' in lock) return lock;
    throw new Fault(
      'failure',
      `another run is writing to ${base}${lock.pid === null ? '' : ` (process ${lock.pid})`}`,
      'wait until it ends, or name another file with --out',
    );
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (notWritable.has(systemCode(error) ?? '')) return null;
    throw new Fault('failure', `cannot write ${file}: ${systemWords(error)}`);
  }
}

/** Throws a usage fault if a new run would lose what an earlier one left; `--force` allows it. */
export function checkNothingLeft({ file, out, force }: RunOptions, { ledger, results }: RunFiles): void {
  if (force) return;
  if (ledger?.exists)
    throw usage(
      `an earlier run of ${file === '-' ? 'standard input' : file} was interrupted`,
      'give --resume to continue where it stopped, or --force to start over',
    );
  if (results !== null && hasResults(results))
    throw usage(
      `${out} already exists and may contain activation codes`,
      'name another file with --out, give --resume to continue it, or --force to start over',
    );
}

/** The new name, or null if there were none. */
function renamedResults(results: string | null): string | null {
  if (results === null || !hasResults(results)) return null;
  let backup = `${results}.before`;
  for (let number = 2; existsSync(backup); number++) backup = `${results}.before.${number}`;
  renameSync(results, backup);
  return backup;
}

/** A notice on standard error. With --json, which reserves it for errors, only with --verbose. */
export function notify({ globals, out }: Context, text: string): void {
  if (globals.json) out.trace(text);
  else out.notice(text);
}

/** Renames the results that `--force` would overwrite. */
export function backUp({ force }: RunOptions, context: Context, { results }: RunFiles): void {
  const backup = force ? renamedResults(results) : null;
  if (backup !== null) notify(context, `${results} was renamed to ${backup}.`);
}

/** How far an earlier run got. */
export interface EarlierRun {
  readonly done: Checkpoint;
  /** It may have sent the batch that follows. */
  readonly sent: boolean;
}

/**
 * Skips the rows that an earlier run has done. Null if there was none. Throws a usage fault if its results belong to another
 * input or are truncated.
 */
export async function skipDoneRows(
  rows: AsyncGenerator<Row>,
  { ledger, results }: RunFiles,
): Promise<EarlierRun | null> {
  const earlier = ledger?.read() ?? null;
  if (results === null || (earlier === null && !hasResults(results))) {
    if (earlier === null) return null;
    for (let row = 0; row < earlier.rows; row++) await rows.next();
    return { done: earlier, sent: true };
  }
  const bytes = earlier?.resultBytes ?? wholeBytes(results);
  if ((statSync(results, { throwIfNoEntry: false })?.size ?? 0) < bytes) throw truncatedResults(results);
  let done: Checkpoint = { ...emptyCheckpoint, resultBytes: bytes };
  for await (const result of readResults(results, bytes)) {
    const { value: row } = await rows.next();
    if (!row || !isResultOf(result, row)) throw foreignResults(results);
    done = counted(done, result, row);
  }
  if (earlier === null && done.rows === 0) throw foreignResults(results);
  if (earlier !== null && earlier.rows !== done.rows) throw truncatedResults(results);
  return { done: earlier === null ? done : { ...done, newest: earlier.newest }, sent: earlier !== null };
}

const counted = (done: Checkpoint, result: StoredResult, row: Row): Checkpoint => ({
  ...done,
  rows: done.rows + 1,
  last: row.position,
  success: done.success + (result.status === 'success' ? 1 : 0),
  registered: done.registered + (result.status === 'registered' ? 1 : 0),
  failed: done.failed + (result.status === 'failed' ? 1 : 0),
  newest: Math.max(done.newest, numberOf(result.deviceId)),
});

const truncatedResults = (results: string) =>
  usage(
    `${results} no longer contains all results of the interrupted run`,
    'restore it, or give --force to start over',
  );
