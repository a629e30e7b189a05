/** How far an interrupted run got: stored beside its results, or beside its input, until the run completes. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { usage } from '../../../framework/fault.ts';
import type { Position } from '../../../jobs/line-number.ts';
import type { RunState } from '../../../jobs/run-state.ts';

/** A batch that was sent, and whose results are not stored. */
interface LedgerPending {
  /** Its idempotency key. */
  readonly key: string;
  /** Rows after those of the checkpoint. */
  readonly rows: number;
}

/** How far a run got. */
export interface Checkpoint {
  /** Rows from the start of the input that have results. */
  readonly rows: number;
  /** Position of the last of them. */
  readonly last: Position;
  readonly success: number;
  /** Those that were registered before and are done for `--skip-existing`. */
  readonly registered: number;
  readonly failed: number;
  /** Size of the results file at that point. */
  readonly resultBytes: number;
  /** The batch that follows; null if it was not sent. */
  readonly pending: LedgerPending | null;
}

/** The checkpoint of a run that has done nothing yet. */
export const emptyCheckpoint: Checkpoint = {
  rows: 0,
  last: { line: 0 },
  success: 0,
  registered: 0,
  failed: 0,
  resultBytes: 0,
  pending: null,
};

/** The stored checkpoint of a run. */
export class Ledger {
  readonly #state: RunState;
  readonly #input: string;
  readonly #fingerprint: string;

  /** `input` is null if the input is a stream, which cannot be compared. */
  constructor(state: RunState, input: string | null) {
    this.#state = state;
    this.#input = input ?? 'standard input';
    this.#fingerprint = input === null ? 'none' : fingerprintOf(input);
  }

  /** Null if no run was interrupted. Throws a usage fault if the input has changed since, or the file is damaged. */
  read(): Checkpoint | null {
    const stored = this.#state.read();
    if (stored === null) return null;
    const startOver = `to start over, remove ${this.#state.file} or give --force`;
    if (stored.fingerprint !== this.#fingerprint)
      throw usage(`${this.#input} is not the input of the interrupted run, or has changed since`, startOver);
    if (!isCheckpoint(stored))
      throw usage(`${this.#state.file} is damaged: it does not say how far the interrupted run got`, startOver);
    const { rows, last, success, failed, resultBytes, registered = 0, pending = null } = stored;
    return { rows, last, success, registered, failed, resultBytes, pending };
  }

  /** Returns when the checkpoint is on the disk. */
  write(checkpoint: Checkpoint): void {
    this.#state.write({ input: this.#input, fingerprint: this.#fingerprint, ...checkpoint });
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

type Optional = 'registered' | 'pending';

/** Those of earlier versions have neither `registered` nor `pending`. */
function isCheckpoint(stored: object): stored is Omit<Checkpoint, Optional> & Partial<Pick<Checkpoint, Optional>> {
  const { rows, last, success, registered = 0, failed, resultBytes, pending } = stored as Partial<Checkpoint>;
  const isPending = !pending || (typeof pending.key === 'string' && isCount(pending.rows));
  return isPending && [rows, last?.line, success, registered, failed, resultBytes].every(isCount);
}

const headBytes = 1024 * 1024;

/** Changes if the size or the first MiB of the file changes. */
function fingerprintOf(file: string): string {
  const { size } = statSync(file);
  const fd = openSync(file, 'r');
  try {
    const head = Buffer.alloc(Math.min(size, headBytes));
    readSync(fd, head, 0, head.length, 0);
    return `${size}:${createHash('sha256').update(head).digest('hex')}`;
  } finally {
    closeSync(fd);
  }
}
