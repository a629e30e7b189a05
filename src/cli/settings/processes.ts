/** Processes of this machine, as the system reports them. */
import { readFileSync } from 'node:fs';
import { systemCode } from '../fault.ts';

/** Whether a process with this id exists. The system reuses ids: it may not be the process that was meant. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * Whether the process with this id can be a daemon of this user. A daemon that crashed leaves its id and address behind, and
 * another user may take over both to receive tokens and passwords. So the process must be ours, and on systems that show its
 * command line, that must be one of a daemon.
 */
export function isDaemon(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // Under Wine, /proc is that of Linux, with other ids.
  if (process.platform !== 'linux') return true;
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes('daemon') && words.includes('run');
  } catch {
    return false;
  }
}

/** Identifies the start of a process, so that a reused id is noticed: boot id and start time on Linux, elsewhere `-`. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The name is in brackets and may contain spaces; the start time is the 20th word after it (proc(5)).
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return '-';
  }
}

/** The command that starts this program again. A single executable has no script: there Node repeats the program's name. */
export function selfCommand(): { readonly file: string; readonly args: readonly string[] } {
  const script = process.argv[1];
  const isExecutable = process.getBuiltinModule('node:sea').isSea();
  return { file: process.execPath, args: script && !isExecutable ? [...process.execArgv, script] : [] };
}
