import { readFile } from 'node:fs/promises';
import type { DaemonInfo } from '../../src/contract/local.ts';
import { holdFile } from '../store/sqlite/hold.ts';
import type { Home } from './home.ts';
import { lockHolder } from './lock.ts';

/** Process of the daemon that holds the home; null where none does, whatever files a crash has left. */
export async function runningPid(home: Home): Promise<number | null> {
  const held = holdFile(home.path('lock'));
  if (held) {
    held.release();
    return null;
  }
  try {
    const { pid } = JSON.parse(await readFile(home.path('daemonInfo'), 'utf8')) as DaemonInfo;
    // The holder may be another program, or a daemon that has not yet replaced what an earlier one left.
    return String(pid) === (await lockHolder(home)) ? pid : null;
  } catch {
    return null;
  }
}
