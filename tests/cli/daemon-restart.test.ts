/** `daemon restart`, and the port that a daemon keeps. */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import {
  adminPassword,
  cheapProgram,
  devmgr,
  type Finished,
  type RunOptions,
  start,
  startDaemon,
  temporaryFolder,
} from './program.ts';

/** A home whose daemon is stopped after the test, and the program in it. */
function inHome() {
  const home = temporaryFolder();
  onTestFinished(async () => {
    await devmgr(['daemon', 'stop'], { home });
  });
  const run = (args: readonly string[], options: RunOptions = {}): Promise<Finished> =>
    start(args, {
      home,
      program: cheapProgram(),
      ...options,
      env: { DEVMGR_ADMIN_PASSWORD: adminPassword, ...options.env },
    }).ended;
  return { home, run };
}

/** A port that no connection of another test takes while the daemon is stopped. */
const free = async (): Promise<string> => String(await freePort());

/** Another program on a port of this machine. */
async function occupy(port: number): Promise<void> {
  const other = createServer();
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve, reject) => {
    other.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
}

/** The command line of the daemon that a command has started. */
const wordsOf = ({ json }: Finished): readonly string[] =>
  readFileSync(`/proc/${json.pid}/cmdline`, 'utf8').split('\0');

const portOf = ({ json }: Finished): number => Number(new URL(json.url).port);

describe('daemon restart', () => {
  test('starts another process on the same port with the same flags', async () => {
    const { run } = inHome();
    const first = await run(['daemon', 'start', '--port', await free(), '--simulate-keys', '2', '--json']);
    const again = await run(['daemon', 'restart', '--json']);
    expect(again).toMatchObject({ code: 0, json: { running: true, restarted: true, url: first.json.url } });
    expect(again.json.pid).not.toBe(first.json.pid);
    expect(wordsOf(again)).toContain('--simulate-keys=2');
    const status = await run(['daemon', 'status', '--json']);
    expect(status.json).toMatchObject({ pid: again.json.pid, health: { ready: true } });
  });

  test('options replace those of the last start, and the others stay', async () => {
    const { run } = inHome();
    const flags = ['--simulate-keys', '2', '--allow-host', 'desk.example'];
    await run(['daemon', 'start', '--port', await free(), ...flags, '--json']);
    const words = wordsOf(await run(['daemon', 'restart', '--simulate-keys', '1', '--json']));
    expect(words).toContain('--allow-host=desk.example');
    expect(words.filter(word => word.startsWith('--simulate-keys'))).toEqual(['--simulate-keys=1']);
  });

  test('starts a daemon that is not running, and reports this', async () => {
    const { run } = inHome();
    const { code, stdout } = await run(['daemon', 'restart', '--port', '0']);
    expect(code).toBe(0);
    expect(stdout).toContain('The daemon was not running, and has started');
    await run(['daemon', 'stop']);
    expect((await run(['daemon', 'restart', '--json'])).json).toMatchObject({ running: true, restarted: false });
  });

  test('one that does not start again is reported as not running', async () => {
    const { home, run } = inHome();
    await run(['daemon', 'start', '--port', await free()]);
    renameSync(join(home, 'signing-key'), join(home, 'signing-key.away'));
    mkdirSync(join(home, 'signing-key'));
    const { code, stderr } = await run(['daemon', 'restart']);
    expect(code).toBe(9);
    expect(stderr).toContain('the daemon was stopped, and none is running now:');
    expect((await run(['daemon', 'status'])).code).toBe(9);
  });

  test('one that runs in a terminal, or under a supervisor, is left alone', async () => {
    const daemon = await startDaemon();
    onTestFinished(() => daemon.end('SIGTERM'));
    const { code, stderr } = await daemon.run(['daemon', 'restart']);
    expect(code).toBe(1);
    expect(stderr).toContain(`the daemon (pid ${daemon.pid}) was not started with "daemon start"`);
    expect((await daemon.run(['daemon', 'status', '--json'])).json.pid).toBe(daemon.pid);
  });

  test.each([
    ['of the user, with systemctl --user', 'user', [], 0, 'The daemon has restarted'],
    ['of the user, but not with other options', 'user', ['--port', '7480'], 2, 'devmgr daemon install'],
    ['of the machine, is left to its administrator', 'machine', [], 1, 'sudo systemctl restart devmgr'],
  ])('a service %s', async (_, who, flags, exit, words) => {
    const daemon = await startDaemon();
    onTestFinished(() => daemon.end('SIGTERM'));
    const bin = temporaryFolder();
    const calls = join(bin, 'calls');
    const answer = `echo "$@" >> ${calls}; case "$*" in *show*) case "$1" in --user) echo ${who === 'user' ? daemon.pid : 0};; *) echo ${daemon.pid};; esac;; esac`;
    writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
    const { code, stdout, stderr } = await daemon.run(['daemon', 'restart', ...flags], {
      env: { PATH: `${bin}:${process.env.PATH}` },
    });
    expect(code).toBe(exit);
    expect(stdout + stderr).toContain(words);
    expect(/--user restart devmgr\.service/.test(readFileSync(calls, 'utf8'))).toBe(exit === 0);
  });
});

describe('the port of a daemon', () => {
  test('is kept for the next start; if another program has it, the notice shows which one is kept instead', async () => {
    const { home, run } = inHome();
    const first = await run(['daemon', 'start', '--port', await free(), '--json']);
    await run(['daemon', 'stop']);
    expect(portOf(await run(['daemon', 'start', '--json']))).toBe(portOf(first));
    const record = join(home, 'daemon-start.json');
    expect(statSync(record).mode & 0o777).toBe(0o600);
    await run(['daemon', 'stop']);
    await occupy(portOf(first));
    const moved = await run(['daemon', 'start']);
    expect(moved.code).toBe(0);
    expect(moved.stderr).toContain(`Port ${portOf(first)} is in use by another program`);
    const other = await run(['daemon', 'status', '--json']);
    expect(portOf(other)).not.toBe(portOf(first));
    // No further start: a daemon of another test may have the port by then.
    expect(JSON.parse(readFileSync(record, 'utf8')).url).toBe(other.json.url);
  });

  test('is in the notice of quickstart if another program has it', async () => {
    const { run } = inHome();
    const first = await run(['daemon', 'start', '--port', await free(), '--json']);
    await run(['daemon', 'stop']);
    await occupy(portOf(first));
    const { code, stderr } = await run(['quickstart']);
    expect(code).toBe(0);
    expect(stderr).toContain(`Port ${portOf(first)} is in use by another program`);
  });

  test('a command starts it on that port, also if the profile names its address', async () => {
    const { run } = inHome();
    const first = await run(['daemon', 'start', '--port', await free(), '--json']);
    await run(['login', 'admin', '--password-stdin'], { input: adminPassword });
    await run(['config', 'set', 'server', first.json.url]);
    await run(['daemon', 'stop']);
    const { code, stderr } = await run(['list']);
    expect(stderr).toContain(`started the local daemon (pid`);
    expect(stderr).toContain(first.json.url);
    expect(code).toBe(0);
  });

  test('a command starts it on the registry of its last start, not with its other flags', async () => {
    const { home, run } = inHome();
    const flagsOf = () => JSON.parse(readFileSync(join(home, 'daemon-start.json'), 'utf8')).args;
    const store = ['--store', 'sqlite:', '--files', 'file:'];
    await run(['daemon', 'start', '--port', await free(), ...store, '--simulate-keys', '1']);
    await run(['daemon', 'stop']);
    for (const starting of [['login', 'admin', '--password-stdin'], ['list']]) {
      expect((await run(starting, { input: adminPassword })).stderr).toContain('started the local daemon');
      expect(flagsOf().toSorted()).toEqual(['--files=file:', '--store=sqlite:']);
      await run(['daemon', 'stop']);
    }
    await run(['daemon', 'start', '--port', await free()]);
    expect(flagsOf()).toEqual([]);
  });

  test('a damaged record of the last start is ignored', async () => {
    const { home, run } = inHome();
    writeFileSync(join(home, 'daemon-start.json'), '{"pid":1,"url":"nonsense","args":[1]}');
    expect((await run(['daemon', 'start', '--port', '0', '--json'])).code).toBe(0);
    writeFileSync(join(home, 'daemon-start.json'), 'nonsense');
    expect((await run(['daemon', 'status', '--json'])).json.running).toBe(true);
  });
});
