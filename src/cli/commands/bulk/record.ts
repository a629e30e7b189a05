/** What `--out` keeps of a run: the results in the file itself, and beside it which batch has no results yet. */
import { existsSync, rmSync, statSync } from 'node:fs';
import type { BatchOperation } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import type { FileLock } from '../../settings/file-lock.ts';
import { readJsonFile, writeWhole } from '../../settings/files.ts';
import { ResultFile } from '../import/results.ts';
import { isRegular, lockRun } from '../import/start.ts';
import { type BulkResult, isHeader, namesOf, readEarlier, resultFields } from './results.ts';
import type { Target } from './source.ts';

/** The batch that was sent last. It is stored before the batch is sent, and removed when the run has completed. */
export interface Pending {
  readonly operation: BatchOperation;
  /** Id of the last event before the batch. */
  readonly head: number;
  /** Number of results in the file before the batch. */
  readonly results: number;
  readonly targets: readonly Target[];
}

/** What a run is recorded for. */
export interface RecordOptions {
  readonly out: string;
  readonly operation: BatchOperation;
  readonly resume: boolean;
  /** Whether results are JSON lines if the name of the file does not say. */
  readonly asJson: boolean;
}

/** The results of one run, and of the runs that it continues. */
export class RunRecord {
  readonly #options: RecordOptions;
  readonly #lock: FileLock | null;
  /** Null for a pipe or a device, and in a folder that cannot hold a lock: such results cannot be continued. */
  readonly #ledger: string | null;
  #file: ResultFile<BulkResult> | null = null;
  #count = 0;
  #changed: ReadonlySet<string> = new Set();

  /** Throws a fault if another run writes to the file, or if a run that does not resume would lose results. */
  constructor(options: RecordOptions) {
    const { out, resume } = options;
    this.#options = options;
    const isFile = !existsSync(out) || isRegular(out);
    if (resume && !isFile) throw usage(`${out} is not a file that a run can continue`);
    this.#lock = isFile ? lockRun(out) : null;
    this.#ledger = this.#lock === null ? null : `${out}.resume.json`;
    if (resume || !isFile) return;
    const isUsed = existsSync(out) && statSync(out).size > 0 && !isHeader(out);
    if (!isUsed && (this.#ledger === null || !existsSync(this.#ledger))) return;
    this.#lock?.release();
    throw usage(
      `${out} has results of an earlier run`,
      'give --resume to continue it, or name another file with --out',
    );
  }

  /** Opens the file. The targets of a batch that an interrupted run may have sent; null if there is none. */
  async open(): Promise<Pending | null> {
    const { out, operation, asJson, resume } = this.#options;
    const pending = resume ? this.#readLedger() : null;
    const earlier = resume ? await readEarlier(out, operation, pending?.results ?? null) : null;
    this.#file = new ResultFile(out, asJson, earlier?.bytes ?? 0, resultFields);
    if (earlier === null) return null;
    this.#count = earlier.count;
    this.#changed = earlier.changed;
    if (pending === null) return null;
    const targets = pending.targets.filter(target => !namesOf(target).some(name => earlier.last.has(name)));
    return targets.length ? { ...pending, targets } : null;
  }

  /** Whether an earlier run has changed the device. */
  hasChanged(target: Target): boolean {
    return namesOf(target).some(name => this.#changed.has(name));
  }

  /** To be called before a batch is sent. Returns when the disk has it. */
  begin(head: number, targets: readonly Target[]): void {
    if (this.#ledger === null) return;
    const pending: Pending = { operation: this.#options.operation, head, results: this.#count, targets };
    writeWhole(this.#ledger, `${JSON.stringify(pending)}\n`, { durable: true });
  }

  /** Returns when the results are on the disk. */
  write(results: readonly BulkResult[]): void {
    this.#file!.write(results);
    this.#count += results.length;
  }

  /** Marks the run as complete. */
  finish(): void {
    this.#file?.finish();
    if (this.#ledger !== null) rmSync(this.#ledger, { force: true });
  }

  /** Whether a killed run can be continued without a loss. */
  get canResume(): boolean {
    return this.#ledger !== null;
  }

  /** Removes what a run has left that changed nothing. A run that continues another one keeps its files. */
  discard(): void {
    if (this.#options.resume) return;
    if (this.#ledger !== null) rmSync(this.#ledger, { force: true });
    if (this.#file?.size === 0 && this.#lock !== null) rmSync(this.#options.out, { force: true });
  }

  close(): void {
    this.#file?.close();
    this.#lock?.release();
  }

  #readLedger(): Pending | null {
    const stored = this.#ledger === null ? null : (readJsonFile(this.#ledger) as Partial<Pending> | null);
    if (stored === null) return null;
    const { operation, head, results, targets } = stored;
    if (operation !== this.#options.operation)
      throw usage(`the interrupted run of ${this.#options.out} was ${operation}, not ${this.#options.operation}`);
    if (!Number.isSafeInteger(head) || !Number.isSafeInteger(results) || !Array.isArray(targets))
      throw usage(`${this.#ledger} is damaged`, 'name another file with --out');
    return { operation, head: head!, results: results!, targets };
  }
}
