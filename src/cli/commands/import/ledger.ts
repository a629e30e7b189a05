/** How far an interrupted run came, kept beside its results (else beside its input) until the run is complete. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { usage } from '../../fault.ts';
import { readJsonFile, writeWhole } from '../../settings/files.ts';
import type { Place } from './line-number.ts';

export interface Checkpoint {
  /** So many rows from the beginning have their results. */
  readonly rows: number;
  /** Where the last of them stands. */
  readonly last: Place;
  readonly success: number;
  readonly failed: number;
  /** Bytes of the results file at that point. */
  readonly resultBytes: number;
  /** Number of the newest device before the batch was sent that may be under way; see `sendBatch`. */
  readonly newest: number;
}

export class Ledger {
  readonly #file: string;
  readonly #input: string;
  readonly #fingerprint: string;

  /** Kept beside `base`, for an input that is a file, or null for one that passes by. */
  constructor(base: string, input: string | null) {
    this.#input = input ?? 'standard input';
    this.#file = `${base}.resume.json`;
    this.#fingerprint = input === null ? 'none' : fingerprintOf(input);
  }

  /** Whether a run was interrupted. */
  get exists(): boolean {
    return existsSync(this.#file);
  }

  /** Null where no run was interrupted; a fault where the input has changed since, or what was kept is damaged. */
  read(): Checkpoint | null {
    const stored = readJsonFile(this.#file);
    if (stored === null) return null;
    const anew = `to begin anew, remove ${this.#file} or give --force`;
    if (stored.fingerprint !== this.#fingerprint)
      throw usage(`${this.#input} is not the file that the interrupted run was about, or has changed since`, anew);
    if (!isCheckpoint(stored)) throw usage(`${this.#file} does not tell how far the interrupted run came`, anew);
    const { rows, last, success, failed, resultBytes, newest } = stored;
    return { rows, last, success, failed, resultBytes, newest };
  }

  /** Returns when the disk has it. */
  write(checkpoint: Checkpoint): void {
    const text = JSON.stringify({ input: this.#input, fingerprint: this.#fingerprint, ...checkpoint }, null, 2);
    writeWhole(this.#file, `${text}\n`, { durable: true });
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function isCheckpoint(stored: object): stored is Checkpoint {
  const { rows, last, success, failed, resultBytes, newest } = stored as Partial<Checkpoint>;
  return [rows, last?.line, success, failed, resultBytes, newest].every(isCount);
}

const headBytes = 1024 * 1024;

/** Tells whether a file is still the same: its size, and what it begins with. */
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
