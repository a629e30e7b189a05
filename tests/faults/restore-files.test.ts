import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { backup, check, restore } from '../../daemon/maintenance/programs.ts';
import { spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { runDaemonProgram } from '../support/programs.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devmgr-restore-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const io = () => ({
  stdout: new PassThrough().resume(),
  stderr: new PassThrough().resume(),
  env: {},
  stdoutIsTerminal: false,
  stderrIsTerminal: false,
});

test('a restore moves files that the restored registry does not know into a folder beside it', async () => {
  const home = join(dir, 'home');
  const copy = join(dir, 'copy.db');
  const first = await spawnDaemon({ home });
  await uploadApp(first, '1.0.0');
  expect(await backup({ home, json: true, file: copy }, io())).toBe(0);
  await uploadApp(first, '2.0.0');
  expect(await restore({ home, json: true, file: copy }, io()), 'while it runs').toBe(1);
  await first.stop();

  expect(await restore({ home, json: true, file: copy }, io())).toBe(0);
  const second = await spawnDaemon({ home });
  expect((await second.call('GET', '/api/app-versions/list')).data).toMatchObject({ pagination: { total: 1 } });
  await second.stop();
  expect(await check({ home, json: true }, io())).toBe(0);
  const aside = (await readdir(home)).find(name => name.startsWith('blobs.before-restore-'));
  expect(await readdir(join(home, aside!))).toHaveLength(1);
  expect((await readdir(join(home, 'blobs'))).filter(name => name !== 'incoming')).toHaveLength(1);
});

test('the registry that a restore has kept can be restored with its files', async () => {
  const home = join(dir, 'home');
  const copy = join(dir, 'copy.db');
  const daemon = await spawnDaemon({ home });
  await uploadApp(daemon, '1.0.0');
  expect(await backup({ home, json: true, file: copy }, io())).toBe(0);
  await uploadApp(daemon, '2.0.0');
  await daemon.stop();

  const restored = await runDaemonProgram(restore, { home, json: true, file: copy });
  const { kept } = JSON.parse(restored.stdout);
  // This start removes files that the restored registry does not know.
  const between = await spawnDaemon({ home });
  await between.stop();
  expect(await restore({ home, json: true, file: kept }, io())).toBe(0);
  expect(await runDaemonProgram(check, { home, json: true })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"files":2'),
  });
});

test('a home that has lost its registry is refused as it is; one whose keys know none keeps the files for a later restore', async () => {
  const home = join(dir, 'home');
  const copy = join(dir, 'copy.db');
  const daemon = await spawnDaemon({ home });
  await uploadApp(daemon, '1.0.0');
  expect(await backup({ home, json: true, file: copy }, io())).toBe(0);
  await daemon.stop();
  await rm(join(home, 'devmgr.db'));

  // Any command can start the local daemon.
  const files = () => readdir(home, { recursive: true });
  const before = (await files()).sort();
  await expect(spawnDaemon({ home })).rejects.toThrow(/ended with 2 .*is empty, but these secrets belong to/s);
  expect((await files()).sort()).toEqual(before);
  await rm(join(home, 'journal-heads'));
  const tooEarly = await spawnDaemon({ home });
  await uploadApp(tooEarly, '3.0.0');
  await tooEarly.stop();
  expect(await restore({ home, json: true, file: copy }, io())).toBe(0);
  expect(await runDaemonProgram(check, { home, json: true })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"files":1'),
  });
});

test.skipIf(process.platform === 'win32')(
  'a link in place of a stored file is damage, and what it leads to is not read',
  async () => {
    const home = join(dir, 'home');
    const copy = join(dir, 'copy.db');
    const daemon = await spawnDaemon({ home });
    await uploadApp(daemon, '1.0.0');
    expect(await backup({ home, json: true, file: copy }, io())).toBe(0);
    await daemon.stop();
    const [blob] = (await readdir(join(home, 'blobs'))).filter(name => name !== 'incoming');
    await rm(join(home, 'blobs', blob!));
    // A file without an end.
    await symlink('/dev/zero', join(home, 'blobs', blob!));
    const { code, stdout } = await runDaemonProgram(check, { home, json: true });
    expect([code, JSON.parse(stdout).problems]).toEqual([1, ['files: the file of APP-1 is damaged']]);
    expect(await runDaemonProgram(restore, { home, json: true, file: copy })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the stored file of APP-1 is not the one'),
    });
  },
);
