/** What `--out` keeps of a run: the results in the file itself, and beside it which batch has no results yet. */
import { existsSync, rmSync, statSync } from 'node:fs';
import { usage } from '../../../framework/fault.ts';
import { ResultFile } from '../../../jobs/result-file.ts';
import { RunState } from '../../../jobs/run-state.ts';
import { isRegular } from '../import/start.ts';
import { type BulkResult, isHeader, namesOf, type RunOperation, readEarlier, resultFields } from './results.ts';
import type { Item, Target } from './source.ts';

/** A batch that was sent, and whose results are not stored. */
export interface Pending {
  /** Its idempotency key. */
  readonly key: string;
  readonly items: readonly Item[];
  /** Fields of every item that does not have its own. */
  readonly common: Readonly<Record<string, unknown>>;
}

/** What the state file of a run has. */
interface StoredRecord {
  readonly operation: RunOperation;
  /** Size of the results without the pending batch. */
  readonly resultBytes: number;
  readonly pending: Pending | null;
}

/** What a run is recorded for. */
interface RecordOptions {
  readonly out: string;
  readonly operation: RunOperation;
  readonly resume: boolean;
  /** Whether results are JSON lines if the name of the file does not say. */
  readonly asJson: boolean;
}

/** The results of one run, and of the runs that it continues. */
export class RunRecord {
  readonly #options: RecordOptions;
  /** Null for a pipe or a device, and in a folder that cannot hold a lock: such results cannot be continued. */
  readonly #state: RunState | null;
  #file: ResultFile<BulkResult> | null = null;
  #changed: ReadonlySet<string> = new Set();

  /** Throws a fault if another run writes to the file, or if a run that does not resume would lose results. */
  constructor(options: RecordOptions) {
    const { out, resume } = options;
    this.#options = options;
    const isFile = !existsSync(out) || isRegular(out);
    if (resume && !isFile) throw usage(`${out} is not a file that a run can continue`);
    this.#state = isFile ? RunState.open(out) : null;
    if (resume || !isFile) return;
    const isUsed = existsSync(out) && statSync(out).size > 0 && !isHeader(out);
    if (!isUsed && !this.#state?.exists) return;
    this.close();
    throw usage(
      `${out} has results of an earlier run`,
      'give --resume to continue it, or name another file with --out',
    );
  }

  /** Opens the file. The batch that an interrupted run may have sent; null if there is none. */
  async open(): Promise<Pending | null> {
    const { out, operation, asJson, resume } = this.#options;
    const stored = resume ? this.#stored() : null;
    const earlier = resume ? await readEarlier(out, operation, stored?.resultBytes ?? null) : null;
    this.#file = new ResultFile(out, asJson, earlier?.bytes ?? 0, resultFields);
    this.#changed = earlier?.changed ?? new Set();
    return stored?.pending ?? null;
  }

  /** Whether an earlier run has changed the device. */
  hasChanged(target: Target): boolean {
    return namesOf(target).some(name => this.#changed.has(name));
  }

  /** To be called before a batch is sent. Returns when the disk has it. */
  begin(pending: Pending): void {
    this.#store(pending);
  }

  /** Returns when the results are on the disk. */
  write(results: readonly BulkResult[]): void {
    this.#file!.write(results);
    this.#store(null);
  }

  /** Marks the run as complete. */
  finish(): void {
    this.#file?.finish();
    this.#state?.remove();
  }

  /** Whether a killed run can be continued without a loss. */
  get canResume(): boolean {
    return this.#state !== null;
  }

  /** Removes what a run has left that changed nothing. A run that continues another one keeps its files. */
  discard(): void {
    if (this.#options.resume) return;
    this.#state?.remove();
    if (this.#file?.size === 0 && this.#state !== null) rmSync(this.#options.out, { force: true });
  }

  close(): void {
    this.#file?.close();
    this.#state?.release();
  }

  #store(pending: Pending | null): void {
    const stored: StoredRecord = { operation: this.#options.operation, resultBytes: this.#file!.size, pending };
    this.#state?.write(stored);
  }

  #stored(): StoredRecord | null {
    const stored = (this.#state?.read() ?? null) as Partial<StoredRecord> | null;
    if (stored === null) return null;
    const { operation, resultBytes, pending } = stored;
    if (operation !== this.#options.operation)
      throw usage(`the interrupted run of ${this.#options.out} was ${operation}, not ${this.#options.operation}`);
    const isPending = pending === null || (typeof pending?.key === 'string' && Array.isArray(pending.items));
    if (!Number.isSafeInteger(resultBytes) || !isPending)
      throw usage(`${this.#state?.file} is damaged`, 'name another file with --out');
    return { operation, resultBytes: resultBytes!, pending: pending! };
  }
}
