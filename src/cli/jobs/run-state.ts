/** What a run keeps beside its results until it is complete: how far it got, and a lock. */
import { existsSync, rmSync } from 'node:fs';
import type { FileLock } from '../settings/file-lock.ts';
import { readJsonFile, writeWhole } from '../settings/files.ts';
import { lockRunIfPossible } from './run-lock.ts';

/** The state of a run, locked for this process. */
export class RunState {
  /** `BASE.resume.json`. */
  readonly file: string;
  readonly #lock: FileLock;

  private constructor(base: string, lock: FileLock) {
    this.file = `${base}.resume.json`;
    this.#lock = lock;
  }

  /** Null if the folder is not writable. Throws a fault if another run uses the file `base`. */
  static open(base: string): RunState | null {
    const lock = lockRunIfPossible({ file: base, hint: 'wait until it ends, or name another file with --out' });
    return lock && new RunState(base, lock);
  }

  /** Whether an earlier run was interrupted. */
  get exists(): boolean {
    return existsSync(this.file);
  }

  /** What an interrupted run has stored; null if none was interrupted. */
  read(): Readonly<Record<string, unknown>> | null {
    return readJsonFile(this.file);
  }

  /** Returns when the disk has it. */
  write(state: object): void {
    writeWhole(this.file, `${JSON.stringify(state, null, 2)}\n`, { durable: true });
  }

  /** To be called when the run is complete, or has changed nothing. */
  remove(): void {
    rmSync(this.file, { force: true });
  }

  release(): void {
    this.#lock.release();
  }
}
