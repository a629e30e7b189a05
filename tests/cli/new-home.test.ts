/** The program where nothing has been set up yet: a home without folders, links to the program, homes that cannot exist. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { man } from '../../src/cli/commands/session/man.ts';
import { completion } from '../../src/cli/framework/completion/completion.ts';
import { Shell } from '../docs/shell.ts';
import { adminPassword, devmgr, discard, programFile, startDaemon, temporaryFolder } from './program.ts';

test('the examples that install the manual page and the completions create their folders', async () => {
  const folder = temporaryFolder();
  const shell = await Shell.open(folder, programFile);
  const lines = [man, completion]
    .flatMap(({ examples }) => Object.values(examples))
    .filter(line => line.includes('~/'));
  for (const line of lines) expect(await shell.run(`devmgr ${line}`)).toMatchObject({ status: 0 });
  const installed = [
    '.local/share/man/man1/devmgr.1',
    '.local/share/bash-completion/completions/devmgr',
    '.zfunc/_devmgr',
    '.config/fish/completions/devmgr.fish',
  ];
  expect(installed.filter(file => !existsSync(join(folder, 'home', file)))).toEqual([]);
});

test('./devmgr of a clone can be started through symbolic links', () => {
  const folder = temporaryFolder();
  symlinkSync(join(programFile, '../../devmgr'), join(folder, 'first'));
  symlinkSync('first', join(folder, 'second'));
  const { status, stdout, stderr } = spawnSync(join(folder, 'second'), ['version', '--quiet'], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
    stderr: '',
  });
});

test('a login at a daemon of another home starts no second one, even if an earlier one had its address', async () => {
  const daemon = await startDaemon();
  onTestFinished(() => discard(daemon));
  const home = temporaryFolder();
  const info = JSON.parse(readFileSync(join(daemon.home, 'daemon.json'), 'utf8'));
  // An id that no process can have: the largest one that Linux gives is 2^22.
  writeFileSync(join(home, 'daemon.json'), JSON.stringify({ ...info, pid: 2 ** 22 + 1, socket: null }));
  const login = ['login', 'admin', '--password-stdin', '--server', daemon.url];
  expect(await devmgr(login, { home, input: adminPassword })).toMatchObject({ code: 0 });
  const { code, stderr } = await devmgr(['list'], { home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('started') });
  expect(existsSync(join(home, 'daemon.lock'))).toBe(false);
});

test.each([
  ['login', 'admin', '--password-stdin'],
  ['daemon', 'run', '--port', '0'],
])('a home below /proc is an error in words: devmgr %s %s', async (...args) => {
  const { code, stderr } = await devmgr([...args, '--home', '/proc/devmgr/home'], { input: 'any password\n' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the home folder /proc/devmgr/home') });
});
