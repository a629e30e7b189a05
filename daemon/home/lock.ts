/** One daemon per home: a lock of the operating system, which is released however the holder ends. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { DaemonInfo } from '../../src/contract/local.ts';
import { poll } from '../../src/delivery/wait.ts';
import { StartRefused } from '../base/start-refused.ts';
import { lockFile } from '../store/sqlite/file-lock.ts';
import type { Home } from './home.ts';

/** A lock that this process holds. */
interface HomeLock {
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
      'stop it with devmgr daemon stop, or name another home folder with --home',
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

/** Milliseconds in which a daemon that has taken the lock publishes its address. A large registry takes seconds to load. */
const STARTING_MS = 20_000;
const POLL_MS = 50;

/**
 * Process id of the daemon that holds the home; null if none does, whatever files a crash has left. A daemon that is starting
 * is waited for: it may have read its keys already, and does not yet take signals.
 */
export async function runningPid(home: Home, waitMs = STARTING_MS): Promise<number | null> {
  const holder = async () => {
    const lock = lockFile(home.path('lock'));
    lock?.release();
    if (lock) return { pid: null };
    const pid = await publishedPid(home);
    // The holder may also be another program, which never publishes an address: this one, for example.
    return pid === null && (await lastHolder(home)) !== String(process.pid) ? null : { pid };
  };
  return (await poll(holder, { everyMs: POLL_MS, forMs: waitMs }))?.pid ?? null;
}

/** Null if the file is that of an earlier daemon. */
async function publishedPid(home: Home): Promise<number | null> {
  try {
    const { pid } = JSON.parse(await readFile(home.path('daemonInfo'), 'utf8')) as DaemonInfo;
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
