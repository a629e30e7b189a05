/** One run at a time on one results file: two would write over each other's activation codes. */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Fault, systemCode, systemWords } from '../../fault.ts';
import { isAlive } from '../../session/alive.ts';

export interface RunLock {
  release(): void;
}

const noPlace = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);
/** Attempts, where others remove the lock of a dead run at the same time. */
const mostTries = 5;
/** Longer than it takes to write a line. */
const makingMs = 10_000;

/**
 * Holds `base` until it is released or the process is gone. Null where nothing can be kept in that folder; a fault
 * where another run holds it.
 */
export function holdRun(base: string): RunLock | null {
  const file = `${base}.resume.lock`;
  const mine = `${process.pid} ${bornAt(process.pid)}\n`;
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600, flush: true });
      return { release: () => rmSync(file, { force: true }) };
    } catch (error) {
      const code = systemCode(error);
      if (noPlace.has(code ?? '')) return null;
      if (code !== 'EEXIST') {
        // A disk that is full may have taken the name and not the words.
        rmSync(file, { force: true });
        throw new Fault('failure', `cannot write ${file}: ${systemWords(error)}`);
      }
    }
    const holder = textOf(file);
    if (holder !== null && (isHeld(file, holder) || tries >= mostTries || !removed(file, holder)))
      throw busy(base, holder);
  }
}

function busy(base: string, holder: string): Fault {
  const pid = holder.split(' ')[0]?.trim();
  return new Fault(
    'failure',
    `another run writes to ${base}${pid ? ` (process ${pid})` : ''}`,
    'wait for its end, or name another file with --out',
  );
}

/** A lock without a word is one that is being made, or was when the machine lost its power. */
function isHeld(file: string, holder: string): boolean {
  const [pid = '', born = ''] = holder.trim().split(' ');
  if (!/^\d+$/.test(pid)) return isYoung(file);
  return isAlive(Number(pid)) && bornAt(Number(pid)) === born;
}

function isYoung(file: string): boolean {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Math.abs(Date.now() - made) < makingMs;
}

/** Takes away the lock of a run that is gone; false where another run took its place meanwhile. */
function removed(file: string, holder: string): boolean {
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

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Tells two processes apart that had one number one after the other; `-` where the system does not say. */
function bornAt(pid: number): string {
  const stat = textOf(`/proc/${pid}/stat`);
  const boot = textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? '-';
  // The name stands in brackets and may hold spaces; the moment of the start is the 20th word after it.
  return stat === null ? '-' : `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
}
