/** A restore that is killed at each of its file system calls, in a home whose daemon was killed, too. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from '../../daemon/home/home.ts';
import { backup, check, restore } from '../../daemon/maintenance/programs.ts';
import { writeRegistry } from '../../daemon/maintenance/write-registry.ts';
import { copyHome } from '../support/copied-home.ts';
import { spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { maintenanceCommand } from '../support/maintenance-process.ts';
import { needs } from '../support/needs.ts';
import { runDaemonProgram } from '../support/programs.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-restore-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** The size of a registry, and its problems. */
async function contents(home: string): Promise<{ entries: number; files: number; problems: readonly string[] }> {
  const { entries, files, problems } = JSON.parse((await runDaemonProgram(check, { home, json: true })).stdout);
  return { entries, files, problems };
}

/** Opens the registry as a daemon does, and counts the entries that say that it was restored. */
async function entriesOfRestores(dir: string): Promise<number> {
  const home = await Home.open(dir);
  const events = await writeRegistry({ home, target: null }, expect.unreachable, store =>
    store.events({ after: 0, limit: 10, types: ['REGISTRY_RESTORED'] }),
  );
  return events.length;
}

/** Kills a restore at the nth call of that name; false if it makes fewer. */
async function killedAt(name: string, step: number, options: { home: string; file: string }): Promise<boolean> {
  // Which of the two calls exists depends on the processor.
  const calls = `?${name},?${name}at`;
  const inject = `inject=${calls}:signal=KILL:when=${step}`;
  const flags = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject];
  const child = spawn('strace', [...flags, ...maintenanceCommand('restore', options)], {
    // strace counts per thread: with one worker, all asynchronous calls count together.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    stdio: 'ignore',
  });
  const [code, signal] = await once(child, 'exit');
  if (signal === null) expect(code).toBe(0);
  return signal !== null;
}

/** The content of a registry before and after a restore. */
const earlier = { entries: 3, files: 2, problems: [] };
const restored = { entries: 2, files: 1, problems: [] };

/** Makes the home of a daemon that was killed, and a backup of what it had before. Returns the backup. */
async function crashedHome(home: string): Promise<string> {
  const file = join(dir, 'copy.db');
  const daemon = await spawnDaemon({ home });
  await uploadApp(daemon, '1.0.0');
  expect((await runDaemonProgram(backup, { home, json: true, file })).code).toBe(0);
  await uploadApp(daemon, '2.0.0');
  await daemon.kill();
  return file;
}

needs('strace')('a restore that is killed', () => {
  test('leaves the previous registry or the restored one, with all its files', { timeout: 120_000 }, async () => {
    const home = join(dir, 'home');
    const copy = await crashedHome(home);
    await copyHome(home, join(dir, 'crashed'));
    expect(await contents(home)).toEqual(earlier);

    for (const name of ['link', 'mkdir', 'unlink', 'rename'])
      for (let step = 1, killed = true; killed; step++) {
        const trial = join(dir, `${name}-${step}`);
        await copyHome(join(dir, 'crashed'), trial);
        killed = await killedAt(name, step, { home: trial, file: copy });
        const found = await contents(trial);
        expect(killed ? [earlier, restored] : [restored], `${name} ${step}`).toContainEqual(found);
        // The next use reports that it was restored if, and only if, it was.
        const isRestored = isDeepStrictEqual(found, restored);
        expect(await entriesOfRestores(trial), `${name} ${step}`).toBe(isRestored ? 1 : 0);
        expect((await contents(trial)).problems, `${name} ${step}`).toEqual([]);
      }
  });

  test('twice in a row loses no registry either, and the next one is complete', { timeout: 120_000 }, async () => {
    const home = join(dir, 'home');
    const file = await crashedHome(home);
    let killed = true;
    for (let step = 1; killed; step++) {
      const trial = join(dir, `trial-${step}`);
      await copyHome(home, trial);
      killed = await killedAt('rename', step, { home: trial, file });
      // The second one finds what the first has left, and makes other calls: it may have fewer.
      await killedAt('rename', step, { home: trial, file });
      expect([earlier, restored], `rename ${step}`).toContainEqual(await contents(trial));
      expect((await runDaemonProgram(restore, { home: trial, file, json: true })).code).toBe(0);
      expect(await contents(trial), `rename ${step}`).toEqual(restored);
      expect(await entriesOfRestores(trial), `rename ${step}`).toBe(1);
    }
  });
});
