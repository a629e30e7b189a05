/**
 * Puts the temporary files of the tests into memory, if the machine has enough of it: each database of PostgreSQL is 300 files, and to
 * make them on a disk takes two thirds of the processor time of its tests.
 */
import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const prefix = 'devmgr-tests-';
/** Bytes that the tests may take there, and that the machine must have besides. */
const taken = 4 * 2 ** 30;

/** Vitest calls it before the tests of a run, and its result after them. A folder that is named by TMPDIR stays. */
export default function makeMemoryFolder(): (() => void) | undefined {
  if (process.env.TMPDIR || !hasRoom()) return undefined;
  removeLost();
  const folder = join(memory, `${prefix}${process.pid}`);
  // A server of PostgreSQL runs as another user and enters it.
  mkdirSync(folder, { mode: 0o755 });
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return Math.min(bavail * bsize, freemem() / 2) > taken;
  } catch {
    return false;
  }
}

/** Removes what a run has left that was killed. */
function removeLost(): void {
  for (const name of readdirSync(memory).filter(name => name.startsWith(prefix)))
    if (!isRunningElsewhere(Number(name.slice(prefix.length))))
      rmSync(join(memory, name), { recursive: true, force: true });
}

/** False for the ID of this process: a folder that bears it is of an earlier process with the same ID. */
function isRunningElsewhere(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
