/** Checks before a run starts. Results of an earlier run are never lost. */
import { accessSync, constants, existsSync, renameSync, statSync } from 'node:fs';
import type { Context } from '../../../framework/context.ts';
import { Fault, systemWords, usage } from '../../../framework/fault.ts';
import { RunState } from '../../../jobs/run-state.ts';
import { hasResults } from './earlier-results.ts';
import { Ledger } from './ledger.ts';

/** The flags that say what a run reads and writes. */
interface StartRunOptions {
  readonly file: string;
  readonly out: string | undefined;
  readonly resume: boolean;
  readonly force: boolean;
}

/** The files of a run beside its results, or beside its input if the results have no file. */
export interface RunFiles {
  /** Null if the folder is not writable. */
  readonly state: RunState | null;
  /** What `state` holds. */
  readonly ledger: Ledger | null;
  /** The file of results, if a later run can continue it; null for a pipe or a device. */
  readonly results: string | null;
}

/** Whether a regular file has this name. */
export const isRegular = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** Throws a usage fault if the input is not readable, cannot be resumed, or is also the file of results. */
export function checkInput({ file, out, resume }: StartRunOptions): void {
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
export function openRunFiles({ file, out }: StartRunOptions): RunFiles {
  const results = out !== undefined && (!existsSync(out) || isRegular(out)) ? out : null;
  const input = file !== '-' && isRegular(file) ? file : null;
  const base = results ?? (out === undefined ? input : null);
  const state = base === null ? null : RunState.open(base);
  return { state, results, ledger: state === null ? null : new Ledger(state, input) };
}

/** Throws a usage fault if a new run would lose what an earlier one left; `--force` allows it. */
export function checkNothingLeft({ file, out, force }: StartRunOptions, { state, results }: RunFiles): void {
  if (force) return;
  if (state?.exists)
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
export function backUp({ force }: StartRunOptions, context: Context, { results }: RunFiles): void {
  const backup = force ? renamedResults(results) : null;
  if (backup !== null) notify(context, `${results} was renamed to ${backup}.`);
}
