/** One run at a time for each file that a run writes: two would overwrite each other's rows, or cut a row that the other one is writing. */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault, systemCode, systemWords, tryOr } from '../fault.ts';
import type { Context } from '../framework/context.ts';
import { type FileLock, tryLock } from '../settings/file-lock.ts';
import { makeFolder } from '../settings/files.ts';

/** Resource that one run uses at a time. */
interface UsedPlace {
  /** The lock is this file with the ending `.lock`. */
  readonly file: string;
  /** In words; absent for the file itself. */
  readonly name?: string;
  /** Advice if another run uses it, or the lock cannot be written. */
  readonly hint: string;
}

/** System errors of a folder that cannot hold a lock. */
const notWritable: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/** Another run holds the lock. */
export class InUse extends Fault {}

class UnwritableLock extends Fault {
  readonly isForFolder: boolean;

  constructor(file: string, error: unknown, hint: string) {
    super('failure', `cannot write ${file}: ${systemWords(error)}`, hint);
    this.isForFolder = notWritable.has(systemCode(error) ?? '');
  }
}

/** Whether the folder of a file is missing and cannot be made, or this user cannot write to it. Not if its disk is full. */
export const isClosedFolder = (error: unknown): boolean =>
  error instanceof UnwritableLock ? error.isForFolder : notWritable.has(systemCode(error) ?? '');

/** The file without links, which are other names for it; the name itself if there is none yet. */
export const realFile = (file: string): string => tryOr(() => realpathSync(file), file);

/** Throws a fault if another run holds the lock, or if the lock cannot be written. */
export function lockRun({ file, name = file, hint }: UsedPlace): FileLock {
  const lockFile = `${realFile(file)}.lock`;
  let lock: ReturnType<typeof tryLock>;
  try {
    lock = tryLock(lockFile);
  } catch (error) {
    throw new UnwritableLock(lockFile, error, hint);
  }
  if ('release' in lock) return lock;
  throw new InUse('failure', `another run uses ${name}${lock.pid === null ? '' : ` (process ${lock.pid})`}`, hint);
}

/** Locks a run by a file; null if the folder is not writable: a file in it can still be written. */
export function lockRunIfPossible(used: UsedPlace): FileLock | null {
  try {
    return lockRun(used);
  } catch (error) {
    if (error instanceof UnwritableLock && error.isForFolder) return null;
    throw error;
  }
}

/** Locks a run without a file: the lock is in a folder of the home, and `words` identify it. `name`: in words. */
export function lockInHome(context: Context, folder: string, words: readonly string[], name: string): FileLock | null {
  const file = homeFile(context, folder, words);
  try {
    makeFolder(dirname(file));
  } catch {
    // A home that is not writable has no lock either.
  }
  return lockRunIfPossible({ file, name, hint: 'wait until it ends, or end it' });
}

/** The file in a folder of the home, without an ending, for what these words name. */
export function homeFile({ settings }: Context, folder: string, words: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
  return join(settings.home, folder, digest);
}
