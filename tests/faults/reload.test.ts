/** Reloading a daemon that is still starting, and a home whose last daemon was killed. */
import { mkdtemp, readFile, rm, watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Home } from '../../daemon/home/home.ts';
import { lockHome } from '../../daemon/home/lock.ts';
import { rotateKey } from '../../daemon/maintenance/programs.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { runDaemonProgram } from '../support/programs.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-reload-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Process id of the daemon that has just locked the home. */
async function holder(): Promise<number> {
  for await (const _ of watch(home)) {
    const pid = Number(await readFile(join(home, 'daemon.lock.pid'), 'utf8').catch(() => ''));
    if (pid) return pid;
  }
  throw new Error('no process has locked the home');
}

it('a daemon that receives SIGHUP while it is starting reloads its keys after the start', async () => {
  const taken = holder();
  const starting = spawnDaemon({ home });
  process.kill(await taken, 'SIGHUP');
  const daemon = await starting;
  await expect.poll(daemon.output, { timeout: 20_000 }).toContain('certificate reloaded');
  expect(await daemon.stop()).toBe(0);
});

it('a key that is replaced while a daemon is starting is in use when the program ends', async () => {
  await (await spawnDaemon({ home })).stop();
  const taken = holder();
  const starting = spawnDaemon({ home });
  const pid = await taken;
  const ran = await runDaemonProgram(rotateKey, { home, json: true });
  expect(ran).toMatchObject({ code: 0, stdout: `{"daemon":${pid}}\n` });
  expect((await starting).output()).toContain('certificate reloaded');
  expect(await (await starting).stop()).toBe(0);
});

it('a daemon that cannot use the new key is reported', async () => {
  const daemon = await spawnDaemon({ home });
  daemon.child.kill('SIGSTOP');
  const ran = await runDaemonProgram(rotateKey, { home, json: false });
  daemon.child.kill('SIGCONT');
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('has not confirmed that it uses it') });
  expect(await daemon.stop()).toBe(0);
});

it('the process id of a killed daemon gets no signal, even if another process holds the home now', async () => {
  const daemon = await spawnDaemon({ home });
  await daemon.kill();
  const lock = await lockHome(await Home.open(home));
  expect(await runDaemonProgram(rotateKey, { home, json: true })).toMatchObject({ stdout: '{"daemon":null}\n' });
  await lock.release();
});
