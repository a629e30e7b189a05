/** Ends the daemons that a test has left: a command that was killed while it started one, for example, ends before its daemon. */
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Vitest calls it before the tests of a run, and its result after them. */
export default function endDaemonsLeft(): () => void {
  return () => {
    for (const pid of idsOfProcesses()) {
      try {
        const command = commandOfDaemon(pid, tmpdir());
        if (command === null) continue;
        process.kill(Number(pid), 'SIGKILL');
        console.error(`ended a daemon that a test has left: ${command}`);
      } catch {
        // It has ended, or belongs to someone else.
      }
    }
  };
}

/** The command of a daemon whose home is below a folder; null of other processes. */
function commandOfDaemon(pid: string, folder: string): string | null {
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  const command = read('cmdline').join(' ').trim();
  const isOurs = read('environ').some(each => each.startsWith(`DEVMGR_HOME=${folder}/devmgr-`));
  return isOurs && command.includes(' daemon run ') ? command : null;
}

/** Empty where the system has no /proc. */
function idsOfProcesses(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
