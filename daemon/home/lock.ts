/** One daemon on one home: a lock of the operating system, so that it is free again however the holder ended. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { holdFile } from '../store/sqlite/hold.ts';
import type { Home } from './home.ts';
import { StartRefused } from './settings.ts';

export interface HomeLock {
  release(): Promise<void>;
}

/** Refuses where another daemon holds the home, naming its process. */
export async function lockHome(home: Home): Promise<HomeLock> {
  const pidFile = pidFileOf(home);
  const held = holdFile(home.path('lock'));
  if (!held) {
    const pid = await lockHolder(home);
    throw new StartRefused(
      1,
      `a daemon already runs on ${home.dir}${pid ? `: process ${pid}` : ''}`,
      'devmgr daemon stop ends it; --home names another home',
    );
  }
  await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return {
    async release() {
      await rm(pidFile, { force: true });
      held.release();
    },
  };
}

const pidFileOf = (home: Home): string => `${home.path('lock')}.pid`;

/** Process that has taken the home last, as it has written; empty where it has not. */
export async function lockHolder(home: Home): Promise<string> {
  return (await readFile(pidFileOf(home), 'utf8').catch(() => '')).trim();
}
