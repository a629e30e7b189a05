/** Locks between processes of one machine: a file that names the process that holds the lock. */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { poll } from '../../delivery/wait.ts';
import { failure, systemCode, tryOr } from '../fault.ts';
import { removeIfPossible, unwritable } from './files.ts';
import { isAlive, startOf } from './processes.ts';

/** A lock that this process holds. */
export interface FileLock {
  release(): void;
}

/** The process that holds a lock; null while it is still writing its id. */
interface LockHolder {
  readonly pid: number | null;
}

/** Attempts, if other processes remove the same abandoned lock at the same time. */
const maxAttempts = 5;
/** A lock without an id that is older than this was left behind by a power cut. */
const maxEmptyMs = 10_000;
/** Longest wait for a lock that is held for milliseconds: hundreds of commands at once take it in turn. */
const maxWaitMs = 60_000;
/** A lock that is held for milliseconds is abandoned if it is older than this and its process is gone. */
const abandonedMs = 2_000;
const pollMs = 10;

/**
 * Takes a lock, or reports which process holds it. The lock of a process that is gone is taken over if it is at least `minAgeMs`
 * old. With an age that no holder reaches, a lock that has just changed hands is not mistaken for the one read before. Throws
 * the system error if the lock cannot be written.
 */
export function tryLock(file: string, minAgeMs = 0): FileLock | LockHolder {
  const ours = `${process.pid} ${startOf(process.pid)}\n`;
  for (let attempt = 1; ; attempt++) {
    try {
      writeFileSync(file, ours, { flag: 'wx', mode: 0o600, flush: true });
      return { release: () => removeIfPossible(file) };
    } catch (error) {
      const code = systemCode(error);
      // A full disk may have room for the name and not for the text.
      if (code === 'ENOSPC' || code === 'EDQUOT') rmSync(file, { force: true });
      if (code !== 'EEXIST') throw error;
    }
    const holder = textOf(file);
    if (holder === null) continue;
    if (isHeld(file, holder, minAgeMs) || attempt >= maxAttempts || !removeAbandoned(file, holder))
      return { pid: Number(holder.split(' ')[0]) || null };
  }
}

/** Runs `work` while this process holds the lock. Waits for other processes; a fault if one holds the lock for longer than `forMs`. */
export async function withLock<T>(file: string, work: () => T, forMs = maxWaitMs): Promise<T> {
  let pid: number | null = null;
  const take = () => {
    const lock = lockOrFault(file);
    if ('release' in lock) return lock;
    pid = lock.pid;
    return null;
  };
  const lock = await poll(take, { everyMs: pollMs, jitter: [0.5, 1.5], forMs });
  if (lock === null)
    throw failure(
      `${file} is locked${pid === null ? '' : ` by process ${pid}`}`,
      pid === null
        ? 'if no devmgr command runs, remove the file'
        : `run the command again once process ${pid} has ended`,
    );
  try {
    return work();
  } finally {
    lock.release();
  }
}

function lockOrFault(file: string): ReturnType<typeof tryLock> {
  try {
    return tryLock(file, abandonedMs);
  } catch (error) {
    throw unwritable(file, error);
  }
}

function isHeld(file: string, holder: string, minAgeMs: number): boolean {
  const [pid = '', start = ''] = holder.trim().split(' ');
  if (!/^\d+$/.test(pid)) return ageOf(file) < maxEmptyMs;
  return (isAlive(Number(pid)) && startOf(Number(pid)) === start) || ageOf(file) < minAgeMs;
}

/** Milliseconds since the lock was taken; 0 if it is gone. */
function ageOf(file: string): number {
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Math.abs(Date.now() - written);
}

/** Removes the lock of a process that is gone; false if another process took the lock first. */
function removeAbandoned(file: string, holder: string): boolean {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return true;
  }
  if (textOf(aside) !== holder) {
    renameSync(aside, file);
    return false;
  }
  rmSync(aside, { force: true });
  return true;
}

const textOf = (file: string): string | null => tryOr(() => readFileSync(file, 'utf8'), null);
