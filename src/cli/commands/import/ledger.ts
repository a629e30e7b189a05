/** How far an interrupted run got: a file beside its results, or beside its input, that exists until the run completes. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { usage } from '../../fault.ts';
import { readJsonFile, writeWhole } from '../../settings/files.ts';
import type { Position } from './line-number.ts';

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
  /** Number of the newest device before the next batch, which may have been sent; see `sendBatch`. */
  readonly newest: number;
}

/** The file with the checkpoint of a run. */
export class Ledger {
  readonly #file: string;
  readonly #input: string;
  readonly #fingerprint: string;

  /** The file is beside `base`. `input` is null if the input is a stream, which cannot be compared. */
  constructor(base: string, input: string | null) {
    this.#input = input ?? 'standard input';
    this.#file = `${base}.resume.json`;
    this.#fingerprint = input === null ? 'none' : fingerprintOf(input);
  }

  /** Whether an earlier run was interrupted. */
  get exists(): boolean {
    return existsSync(this.#file);
  }

  /** Null if no run was interrupted. Throws a usage fault if the input has changed since, or the file is damaged. */
  read(): Checkpoint | null {
    const stored = readJsonFile(this.#file);
    if (stored === null) return null;
    const startOver = `to start over, remove ${this.#file} or give --force`;
    if (stored.fingerprint !== this.#fingerprint)
      throw usage(`${this.#input} is not the input of the interrupted run, or has changed since`, startOver);
    if (!isCheckpoint(stored))
      throw usage(`${this.#file} is damaged: it does not say how far the interrupted run got`, startOver);
    const { rows, last, success, failed, resultBytes, newest, registered = 0 } = stored;
    return { rows, last, success, registered, failed, resultBytes, newest };
  }

  /** Returns when the checkpoint is on the disk. */
  write(checkpoint: Checkpoint): void {
    const text = JSON.stringify({ input: this.#input, fingerprint: this.#fingerprint, ...checkpoint }, null, 2);
    writeWhole(this.#file, `${text}\n`, { durable: true });
  }

  /** Removes the file, if it exists. */
  remove(): void {
    rmSync(this.#file, { force: true });
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Ledgers of earlier versions have no `registered`. */
function isCheckpoint(stored: object): stored is Omit<Checkpoint, 'registered'> & { readonly registered?: number } {
  const { rows, last, success, registered = 0, failed, resultBytes, newest } = stored as Partial<Checkpoint>;
  return [rows, last?.line, success, registered, failed, resultBytes, newest].every(isCount);
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
