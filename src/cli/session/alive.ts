import { readFileSync } from 'node:fs';
import { systemCode } from '../fault.ts';

/** Whether a process of that id exists. It may be another than the one that once had it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * Whether the process of that id can be a daemon of this user. One that crashed leaves its id and its address behind; another
 * user may take both, to be sent tokens and passwords. So it has to be ours, and has to call itself a daemon where the
 * system tells what a process is called.
 */
export function isDaemon(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes('daemon') && words.includes('run');
  } catch {
    return process.platform !== 'linux';
  }
}
