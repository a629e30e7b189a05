/** Daemons that share a registry: one of them reads the directory. */
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { DueWork } from '../../daemon/background/due-work.ts';
import { DirectoryRuns } from '../../daemon/directory/work.ts';
import { settingsIn } from '../../daemon/store/document.ts';
import type { Store } from '../../daemon/store/store.ts';
import { poll } from '../../src/delivery/wait.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';

const log = pino({ level: 'silent' });
const config = { everyMinutes: 1, fullEveryMinutes: 60 };
const report = { dryRun: false, problem: null, counts: {} as never, list: [] };

needsPostgres('two daemons with a directory', () => {
  it('one reads it; when that one is gone, the other does', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.stop());
    const opened = await openPostgres(server);
    onTestFinished(opened.cleanup);
    let clock = 0;
    const runs: string[] = [];
    const settings = {
      read: async () => ({ ...settingsIn(null, null), version: 1, config: config as never }),
      // The settings of a run long ago: the next one is due at once.
      lastRun: async () => null,
    };
    const start = (name: string, store: Store) => {
      const sync = {
        run: async () => {
          runs.push(name);
          return report;
        },
      };
      const made = new DueWork({ store, log }, new DirectoryRuns({ settings, sync, log, now: () => clock }));
      made.start();
      return made;
    };
    const daemons = new Map([
      ['one', start('one', opened.store)],
      ['two', start('two', await opened.openAnother())],
    ]);
    onTestFinished(async () => void (await Promise.all([...daemons.values()].map(daemon => daemon.stop()))));
    /** Lets minutes pass until there are so many runs. */
    const until = (count: number) =>
      poll(
        async () => {
          clock += 60_000;
          return runs.length >= count || null;
        },
        { everyMs: 20, forMs: 30_000 },
      );

    await until(3);
    const [holder] = runs;
    expect(new Set(runs)).toEqual(new Set([holder]));
    await daemons.get(holder!)!.stop();
    const before = runs.length;
    await until(before + 2);
    const other = holder === 'one' ? 'two' : 'one';
    expect(new Set(runs.slice(before))).toEqual(new Set([other]));
  });
});
