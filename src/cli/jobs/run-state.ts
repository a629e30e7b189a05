/** What a run keeps beside its results until it is complete: how far it got, and a lock. */
import { existsSync, rmSync } from 'node:fs';
import { Fault, systemCode, systemWords } from '../framework/fault.ts';
import { type FileLock, tryLock } from '../settings/file-lock.ts';
import { readJsonFile, writeWhole } from '../settings/files.ts';

/** System errors of a folder that cannot hold a lock. */
const notWritable: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/** The state of a run, locked for this process. */
export class RunState {
  /** `BASE.resume.json`. */
  readonly file: string;
  readonly #lock: FileLock;

  private constructor(base: string, lock: FileLock) {
    this.file = `${base}.resume.json`;
    this.#lock = lock;
  }

  /**
   * One run at a time per file `base`: two would overwrite each other's activation codes. Null if the folder is not writable.
   * Throws a fault if another run holds the lock.
   */
  static open(base: string): RunState | null {
    const file = `${base}.resume.lock`;
    try {
      const lock = tryLock(file);
      if ('release' in lock) return new RunState(base, lock);
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
