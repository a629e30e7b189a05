/** The daemon of a home: started by whoever needs it, found again, ended; and the way from nothing to the first key. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { adminPassword, devmgr, programFile, type RunOptions, startDaemon, temporaryFolder } from './program.ts';

/** A home whose daemon is ended when the test is over. */
function freshHome(): string {
  const home = temporaryFolder();
  onTestFinished(async () => {
    await devmgr(['daemon', 'stop'], { home });
  });
  return home;
}

const env = { DEVMGR_ADMIN_PASSWORD: adminPassword };
const run = (home: string, args: readonly string[], options: RunOptions = {}) =>
  devmgr(args, { home, ...options, env: { ...env, ...options.env } });

describe('in the background', () => {
  test('it is started once, found, and ended', async () => {
    const home = freshHome();
    const first = await run(home, ['daemon', 'start', '--port', '0', '--json']);
    expect(first.json).toMatchObject({ running: true, started: true, home });
    const second = await run(home, ['daemon', 'start', '--json']);
    expect(second.json).toMatchObject({ started: false, pid: first.json.pid, url: first.json.url });
    const status = await run(home, ['daemon', 'status', '--json']);
    expect(status).toMatchObject({
      code: 0,
      json: { running: true, pid: first.json.pid, health: { service: 'devmgr' } },
    });
    expect((await run(home, ['daemon', 'logs', '--lines', '5'])).stdout).toContain('listening');
    expect((await run(home, ['daemon', 'stop', '--json'])).json).toMatchObject({
      running: false,
      stopped: true,
      pid: first.json.pid,
    });
    expect(await run(home, ['daemon', 'status', '--json'])).toMatchObject({ code: 9, json: { running: false } });
    expect((await run(home, ['daemon', 'stop', '--json'])).json.stopped).toBe(false);
  });

  test('a command starts it where none runs, and says so; --no-autostart forbids it', async () => {
    const home = freshHome();
    expect(
      (await run(home, ['login', 'admin', '--password-stdin', '--no-autostart'], { input: adminPassword })).code,
    ).toBe(9);
    const login = await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    expect(login.code).toBe(0);
    expect(login.stderr).toMatch(/started the local daemon \(pid \d+\) at http/);
    expect((await run(home, ['list', '--no-autostart'])).code).toBe(0);
  });

  test('a command that looks at keys starts it too where the registry is elsewhere, and needs no login for it', async () => {
    const home = freshHome();
    const elsewhere = ['keys', '--server', 'https://registry.invalid'];
    expect(await run(home, [...elsewhere, '--no-autostart'])).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('the local daemon does not run'),
    });
    const { code, stderr } = await run(home, elsewhere);
    expect(stderr).toMatch(/started the local daemon \(pid \d+\) at http/);
    expect(code).toBe(0);
  });

  test('two commands that both find none start one', async () => {
    const home = freshHome();
    const [a, b] = await Promise.all([
      run(home, ['daemon', 'start', '--json']),
      run(home, ['daemon', 'start', '--json']),
    ]);
    expect([a.code, b.code]).toEqual([0, 0]);
    expect(a.json.pid).toBe(b.json.pid);
  });

  test('what a killed one left behind is not taken for a running one', async () => {
    const home = freshHome();
    const { json } = await run(home, ['daemon', 'start', '--port', '0', '--json']);
    process.kill(json.pid, 'SIGKILL');
    const login = await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    expect(login.code).toBe(0);
    expect(login.stderr).toContain('started the local daemon');
  });

  test('where it cannot start, the end of its log says why, and nothing hangs', async () => {
    const home = freshHome();
    mkdirSync(join(home, 'devmgr.db'));
    const { code, stderr } = await run(home, ['list']);
    expect(code).toBe(9);
    expect(stderr).toContain('the end of its log:');
    expect(stderr).toMatch(/devmgr\.db|database/);
    expect(stderr).toContain('devmgr daemon logs');
  });

  test('a port that is named and taken is said', async () => {
    const home = freshHome();
    const other = createServer();
    const port = await new Promise<number>(resolve =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    onTestFinished(() => void other.close());
    const { code, stderr } = await run(home, ['daemon', 'start', '--port', String(port)]);
    expect(code).toBe(9);
    expect(stderr).toContain(`${port} is in use`);
  });

  test.each([
    ['a flag', ['--host', '0.0.0.0'], {}, 'not loopback'],
    ['the environment', [], { DEVMGR_LIMIT_LOGIN: 'many' }, 'DEVMGR_LIMIT_LOGIN'],
    ['the first password', [], { DEVMGR_ADMIN_PASSWORD: 'short' }, 'DEVMGR_ADMIN_PASSWORD'],
  ])('%s that is wrong is a usage error, as in the foreground', async (_, args, wrong, words) => {
    const { code, stderr } = await run(freshHome(), ['daemon', 'start', '--port', '0', '--json', ...args], {
      env: wrong,
    });
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 1001, message: expect.stringContaining(words) });
  });

  test('a home that cannot be used is said', async () => {
    const home = join(freshHome(), 'file');
    writeFileSync(home, '');
    const { code, stderr } = await run(home, ['list']);
    expect(code).toBe(1);
    expect(stderr).toContain('--home DIR');
  });
});

describe('in the foreground', () => {
  test('a second one on the same home is refused, naming the first', async () => {
    const daemon = await startDaemon();
    onTestFinished(() => daemon.end('SIGTERM'));
    const { code, stderr } = await devmgr(['daemon', 'run', '--port', '0', '--json'], { home: daemon.home });
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'FAILED',
      message: expect.stringContaining(`${daemon.pid}`),
    });
  });

  test.each([
    ['a host that is not loopback without TLS', ['--host', '0.0.0.0']],
    ['a certificate without its key', ['--tls-cert', 'x.pem']],
    ['a network that is none', ['--trust-proxy', 'everywhere']],
    ['a port that is none', ['--port', '70000']],
  ])('%s is a usage error', async (_, args) => {
    const { code, stderr } = await devmgr(['daemon', 'run', '--json', ...args]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error.code).toBe(1001);
  });

  test('a malformed limit stops the start with exit code 2', async () => {
    expect((await devmgr(['daemon', 'run', '--port', '0'], { env: { DEVMGR_LIMIT_QUERY: 'many' } })).code).toBe(2);
  });
});

describe('quickstart', () => {
  test('goes from nothing to an enrolled key without a terminal; a second run finds everything as it was', async () => {
    const home = freshHome();
    // No password in the environment: it is made, kept in a file, and found there.
    const first = await devmgr(['quickstart'], { home });
    expect(first.code).toBe(0);
    const [, deviceId] = /registered\s+(DEV-\d+) INACTIVE/.exec(first.stdout) ?? [];
    expect(deviceId).toBe('DEV-1');
    expect(first.stdout).toContain('(simulated)');
    expect(first.stderr).toContain('No key is attached. A simulated key is used');
    expect(first.stderr).toMatch(/devmgr activate DEV-1 --code [A-Z2-9-]{19} --user alice/);
    expect(existsSync(join(home, 'initial-admin-password'))).toBe(true);
    const second = await devmgr(['quickstart', '--json'], { home });
    expect(second.code).toBe(0);
    expect(second.json).toMatchObject({
      user: { username: 'admin' },
      key: { result: 'known', deviceId: 'DEV-1', simulated: true },
    });
    await devmgr(['daemon', 'stop'], { home });
    const third = await devmgr(['quickstart', '--quiet'], { home });
    expect({ code: third.code, stdout: third.stdout }).toEqual({ code: 0, stdout: 'DEV-1\n' });
  });
});

test('the program stands in one file that needs no arguments of Node', () => {
  expect(readFileSync(programFile, 'utf8').startsWith('#!/usr/bin/env node')).toBe(true);
});
