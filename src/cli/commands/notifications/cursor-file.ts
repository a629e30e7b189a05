/** How far events were delivered: a file that a later run continues from. It is written when a delivery has succeeded. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { homeFile, lockRun } from '../../jobs/run-lock.ts';
import type { FileLock } from '../../settings/file-lock.ts';
import { makeFolder, readJsonFile, unwritable, writeWhole } from '../../settings/files.ts';

const otherFile = 'name another file with --cursor';

/**
 * The file for a target, if the user names none: one for each profile, server, target and selection. A registry with several
 * addresses continues with the file of any of them.
 */
export function defaultCursor(context: Context, target: readonly string[]): string {
  const { profile } = context.settings;
  const files = context
    .identities()
    .map(identity => `${homeFile(context, 'watch-cursors', [profile, identity, ...target])}.json`);
  return files.find(file => existsSync(file)) ?? files[0]!;
}

/** The position of one target. Only one run at a time holds it. */
export class CursorFile {
  readonly file: string;
  /** Distinguishes the events of this registry at a receiver; the same for all runs with this file. */
  readonly source: string;
  readonly #lock: FileLock;
  #last: number | null;

  private constructor(file: string, lock: FileLock, source: string, last: number | null) {
    this.file = file;
    this.#lock = lock;
    this.source = source;
    this.#last = last;
  }

  /** Throws a fault if another run holds the file, or if it holds something else. */
  static open(file: string): CursorFile {
    createFolder(file);
    const lock = lockRun({ file, hint: `end it, or ${otherFile}` });
    try {
      const stored = readJsonFile(file, otherFile);
      if (stored === null) return new CursorFile(file, lock, randomBytes(6).toString('hex'), null);
      const { last, source } = stored;
      if (!Number.isSafeInteger(last) || typeof source !== 'string' || !/^[0-9a-f]{12}$/.test(source))
        throw usage(`${file} is not a cursor of devmgr watch`, otherFile);
      return new CursorFile(file, lock, source, last as number);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Id of the last event that is delivered, as are all before it; null if there is none. */
  get last(): number | null {
    return this.#last;
  }

  /** Returns when the position is on the disk. */
  save(last: number): void {
    this.#last = last;
    writeWhole(this.file, `${JSON.stringify({ last, source: this.source })}\n`, { durable: true, hint: otherFile });
  }

  close(): void {
    this.#lock.release();
  }
}

function createFolder(file: string): void {
  try {
    makeFolder(dirname(file));
  } catch (error) {
    throw unwritable(file, error, otherFile);
  }
}
