/** One daemon per home: a lock of the operating system, which is released however the holder ends. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { DaemonInfo } from '../../src/contract/local.ts';
import { lockFile } from '../store/sqlite/file-lock.ts';
import type { Home } from './home.ts';
import { StartRefused } from './settings.ts';

/** A lock that this process holds. */
export interface HomeLock {
  release(): Promise<void>;
}

/** Locks the home. Refuses with `StartRefused` if another daemon holds it, and names its process. */
export async function lockHome(home: Home): Promise<HomeLock> {
  const pidFile = pidFileOf(home);
  const lock = lockFile(home.path('lock'));
  if (!lock) {
    const pid = await lastHolder(home);
    throw new StartRefused(
      1,
      `a daemon is already running on ${home.dir}${pid ? `: process ${pid}` : ''}`,
      'devmgr daemon stop ends it; --home names another home',
    );
  }
  await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return {
    async release() {
      await rm(pidFile, { force: true });
      lock.release();
    },
  };
}

/** Process id of the daemon that holds the home; null if none does, whatever files a crash has left. */
export async function runningPid(home: Home): Promise<number | null> {
  const lock = lockFile(home.path('lock'));
  if (lock) {
    lock.release();
    return null;
  }
  try {
    const { pid } = JSON.parse(await readFile(home.path('daemonInfo'), 'utf8')) as DaemonInfo;
    // The holder may be another program, or a daemon that has not yet replaced the file of an earlier one.
    return String(pid) === (await lastHolder(home)) ? pid : null;
  } catch {
    return null;
  }
}

const pidFileOf = (home: Home): string => `${home.path('lock')}.pid`;

/** The process id that the last holder has written; empty if there is none. */
async function lastHolder(home: Home): Promise<string> {
  return (await readFile(pidFileOf(home), 'utf8').catch(() => '')).trim();
}
