/**
 * The files of a job: its results, and beside them how far it got. A later run continues from them. One run at a time has them, and
 * results of an earlier run are never lost.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { type Fault, usage } from '../fault.ts';
import type { FileLock } from '../settings/file-lock.ts';
import { jsonText, readJsonFile, writeWhole } from '../settings/files.ts';
import { isRegular } from './input-file.ts';
import { ResultFile, readRecords, tailOf, wholeBytes } from './result-file.ts';
import { lockRunIfPossible, realFile } from './run-lock.ts';

type Row = Readonly<Record<string, unknown>>;

/** Output of a job, and the earlier runs that it continues. */
export interface JobDescription<Result extends object> {
  /** The file of the results; undefined if they go to standard output alone. */
  readonly out: string | undefined;
  /** A regular file beside which the progress is stored if the results have no file; null for none. */
  readonly input: string | null;
  /** Whether results are JSON lines if the name of the file does not say. */
  readonly asJson: boolean;
  /** The columns of the results as CSV. The first two are the same for all results. */
  readonly columns: (results: readonly Result[]) => readonly string[];
  /** Content of the file in words, such as `results of LOCK`. */
  readonly content: string;
  /** How to start over, in words. */
  readonly startOver: string;
  /** Stored with the progress. */
  readonly identity: Row;
  /** Why a stored progress is of another job, in words; null if it is of this one. */
  readonly refusalOf: (stored: Row) => string | null;
  /** Whether a stored progress has what this job continues from. */
  readonly isProgress: (stored: Row) => boolean;
}

/** Whether a stored value is a number of rows or bytes. */
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Bytes. A file with only a header has nothing to lose. */
const maxHeader = 200;

/** The files of one job, locked for this process. `Progress` is what is stored of it until it is complete. */
export class JobFiles<Result extends object, Progress extends object> {
  /** The file of results, if a later run can continue it; null for a pipe or a device, and without `out`. */
  readonly results: string | null;
  readonly #job: JobDescription<Result>;
  readonly #progressFile: string;
  readonly #lock: FileLock | null;
  #file: ResultFile<Result> | null = null;
  /** Bytes of the results of earlier runs. */
  #earlierBytes = 0;
  #isContinued = false;

  /** Throws a fault if another run uses them. */
  constructor(job: JobDescription<Result>) {
    const { out, input } = job;
    this.#job = job;
    this.results = out !== undefined && (isRegular(out) || !existsSync(out)) ? out : null;
    const named = this.results ?? (out === undefined ? input : null);
    const base = named && realFile(named);
    const hint = 'wait until it ends, or name another file with --out';
    this.#lock = base === null ? null : lockRunIfPossible({ file: base, hint });
    this.#progressFile = `${base}.resume.json`;
  }

  /** Whether a later run can continue a killed one without a loss. False if the folder is not writable. */
  get canContinue(): boolean {
    return this.#lock !== null;
  }

  /** Whether the results are written to a file. */
  get hasFile(): boolean {
    return this.#file !== null;
  }

  /** Throws a usage fault if a new run would lose what an earlier one left. */
  demandUnused(): void {
    const { startOver } = this.#job;
    if (this.#lock !== null && existsSync(this.#progressFile))
      throw usage(
        `an earlier run was interrupted: ${this.results ?? this.#job.input}`,
        `give --resume to continue where it stopped; to start over, ${startOver}`,
      );
    if (this.#hasResults)
      throw usage(
        `${this.results} already exists: it has results of an earlier run`,
        `give --resume to continue it; to start over, ${startOver}`,
      );
  }

  /** Whether the file contains more than a header. */
  get #hasResults(): boolean {
    const size = this.results === null ? 0 : (statSync(this.results, { throwIfNoEntry: false })?.size ?? 0);
    if (size === 0 || size > maxHeader) return size > 0;
    const text = tailOf(this.results!, size, size).toString();
    const start = `${this.#job.columns([]).slice(0, 2).join(',')},`;
    return !text.startsWith(start) || text.indexOf('\n') !== size - 1;
  }

  /** Forgets the progress and renames the results of earlier runs. The new name; null if there were none. */
  setAside(): string | null {
    this.#forget();
    if (!this.#hasResults) return null;
    let copy = `${this.results}.before`;
    for (let number = 2; existsSync(copy); number++) copy = `${this.results}.before.${number}`;
    renameSync(this.results!, copy);
    return copy;
  }

  /** State of an interrupted run; null if there was none. Throws a usage fault if it is another job, or the file is damaged. */
  interrupted(): (Progress & { readonly resultBytes: number }) | null {
    const stored = this.#lock === null ? null : readJsonFile(this.#progressFile);
    if (stored === null) return null;
    this.#isContinued = true;
    const { refusalOf, isProgress, startOver } = this.#job;
    const refusal = refusalOf(stored);
    if (refusal === null && isCount(stored.resultBytes) && isProgress(stored))
      return stored as unknown as Progress & { readonly resultBytes: number };
    throw usage(
      refusal ?? `${this.#progressFile} is damaged: it does not say how far the interrupted run got`,
      `to start over, remove ${this.#progressFile}, or ${startOver}`,
    );
  }

  /** The results of earlier runs in order; later ones follow. Throws a usage fault if some are missing or not results. */
  async *earlier(): AsyncGenerator<Row> {
    const { results } = this;
    const stored = this.interrupted();
    if (results === null || (stored === null && !this.#hasResults)) return;
    const bytes = stored?.resultBytes ?? wholeBytes(results);
    if ((statSync(results, { throwIfNoEntry: false })?.size ?? 0) < bytes) throw this.truncated();
    let count = 0;
    for await (const record of readRecords(results, bytes, () => this.foreign())) {
      count++;
      yield record;
    }
    if (stored === null && count === 0) throw this.foreign();
    this.#earlierBytes = bytes;
    this.#isContinued = true;
  }

  /** The fault for a file that contains something else. */
  foreign(): Fault {
    const { content, startOver } = this.#job;
    return usage(`${this.results} does not contain ${content}`, `to start over, ${startOver}`);
  }

  /** The fault for a file that lacks results. */
  truncated(): Fault {
    return usage(
      `${this.results} no longer contains all results of the interrupted run`,
      `restore it; to start over, ${this.#job.startOver}`,
    );
  }

  /** Opens the file of results, if there is one. */
  open(): void {
    const { out, asJson, columns } = this.#job;
    if (out !== undefined) this.#file = new ResultFile(out, asJson, this.#earlierBytes, columns);
  }

  /** Returns when the disk has the results. */
  write(results: readonly Result[]): void {
    this.#file?.write(results);
  }

  /** Returns when the disk has the progress. */
  store(progress: Progress): void {
    if (this.#lock === null) return;
    const stored = { ...this.#job.identity, ...progress, resultBytes: this.#file?.size ?? 0 };
    writeWhole(this.#progressFile, jsonText(stored), { durable: true });
  }

  /** Marks the job as complete. */
  finish(): void {
    this.#file?.finish();
    this.#forget();
  }

  /** Removes what a run has left that did nothing. A run that continues another one keeps its files. */
  discard(): void {
    if (this.#isContinued || this.#lock === null) return;
    this.#forget();
    if (this.#file?.size === 0 && this.results !== null) rmSync(this.results, { force: true });
  }

  close(): void {
    this.#file?.close();
    this.#lock?.release();
  }

  #forget(): void {
    if (this.#lock !== null) rmSync(this.#progressFile, { force: true });
  }
}
