/** One daemon on one home: a lock of the operating system, so that it is free again however the holder ended. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Home } from './home.ts';
import { StartRefused } from './settings.ts';
import { holdFile } from './store/sqlite/hold.ts';

export interface HomeLock {
  release(): Promise<void>;
}

/** Refuses where another daemon holds the home, naming its process. */
export async function lockHome(home: Home): Promise<HomeLock> {
  const pidFile = `${home.path('lock')}.pid`;
  const held = holdFile(home.path('lock'));
  if (!held) {
    const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
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
