/** The daemon of a home: started on demand, found, stopped; and quickstart. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closedAddress } from '../support/http-servers.ts';
import {
  adminPassword,
  cheapProgram,
  devmgr,
  programFile,
  type RunOptions,
  start,
  startDaemon,
  temporaryFolder,
} from './program.ts';

/** A home whose daemon is stopped after the test. */
function freshHome(): string {
  const home = temporaryFolder();
  onTestFinished(async () => {
    await devmgr(['daemon', 'stop'], { home });
  });
  return home;
}

const env = { DEVMGR_ADMIN_PASSWORD: adminPassword };
const run = (home: string, args: readonly string[], options: RunOptions = {}) =>
  start(args, { home, program: cheapProgram(), ...options, env: { ...env, ...options.env } }).ended;

describe('in the background', () => {
  test('it is started once, found, and stopped', async () => {
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

  test('a command starts it if it is not running, with a notice; --no-autostart prevents that', async () => {
    const home = freshHome();
    expect(
      (await run(home, ['login', 'admin', '--password-stdin', '--no-autostart'], { input: adminPassword })).code,
    ).toBe(9);
    const login = await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    expect(login.code).toBe(0);
    expect(login.stderr).toMatch(/started the local daemon \(pid \d+\) at http/);
    expect((await run(home, ['list', '--no-autostart'])).code).toBe(0);
  });

  test('a command for attached keys starts it even if the registry is remote, and needs no login', async () => {
    const home = freshHome();
    const elsewhere = ['keys', '--server', 'https://registry.invalid'];
    expect(await run(home, [...elsewhere, '--no-autostart'])).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('the local daemon is not running'),
    });
    const { code, stderr } = await run(home, elsewhere);
    expect(stderr).toMatch(/started the local daemon \(pid \d+\) at http/);
    expect(code).toBe(0);
  });

  test('two commands at the same time start one daemon', async () => {
    const home = freshHome();
    const [a, b] = await Promise.all([
      run(home, ['daemon', 'start', '--json']),
      run(home, ['daemon', 'start', '--json']),
    ]);
    expect([a.code, b.code]).toEqual([0, 0]);
    expect(a.json.pid).toBe(b.json.pid);
  });

  test('the files of a killed daemon are not taken for a running one', async () => {
    const home = freshHome();
    const { json } = await run(home, ['daemon', 'start', '--port', '0', '--json']);
    process.kill(json.pid, 'SIGKILL');
    const login = await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    expect(login.code).toBe(0);
    expect(login.stderr).toContain('started the local daemon');
  });

  test('it is started again each time it dies while a command needs it, with the options it had', async () => {
    const home = freshHome();
    const { json } = await run(home, ['daemon', 'start', '--simulate-keys', '1', '--json']);
    await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    const keys = start(['keys', '--watch', '--json'], { home, program: cheapProgram(), env });
    onTestFinished(() => void keys.child.kill());
    const seen = (times: number) => keys.until('stdout', new RegExp(`("KEY_ATTACHED"[\\s\\S]*){${times}}`));
    await seen(1);
    process.kill(json.pid, 'SIGKILL');
    await seen(2);
    const again = (await run(home, ['daemon', 'status', '--json'])).json.pid;
    process.kill(again, 'SIGKILL');
    await seen(3);
    expect((await run(home, ['daemon', 'status', '--json'])).json.pid).not.toBe(again);
  });

  test('a daemon that runs but does not answer is reported as such', async () => {
    const home = freshHome();
    const { json } = await run(home, ['daemon', 'start', '--json']);
    process.kill(json.pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(json.pid, 'SIGCONT'));
    const [words, status, doctor] = await Promise.all([
      run(home, ['daemon', 'status']),
      run(home, ['daemon', 'status', '--json']),
      run(home, ['doctor', '--json']),
    ]);
    const what = `the daemon is running (pid ${json.pid}), but does not answer at ${json.url}`;
    expect(words).toMatchObject({ code: 9, stderr: expect.stringContaining(what) });
    expect(status).toMatchObject({ code: 9, json: { running: true, pid: json.pid, url: json.url, health: null } });
    expect(doctor.json.checks).toContainEqual(
      expect.objectContaining({ name: 'daemon', state: 'failed', detail: what }),
    );
  });

  test('doctor shows why a daemon is not ready, as daemon status does', async () => {
    const home = freshHome();
    const { json } = await run(home, ['daemon', 'start', '--port', '0', '--drain', '60', '--json']);
    onTestFinished(() => void process.kill(json.pid, 'SIGKILL'));
    process.kill(json.pid, 'SIGTERM');
    const reason = async () => (await run(home, ['daemon', 'status', '--json'])).json.health.reason;
    await expect.poll(reason).toEqual(expect.any(String));
    const doctor = await run(home, ['doctor', '--json']);
    expect(doctor.json.checks).toContainEqual({
      name: 'daemon',
      state: 'failed',
      detail: expect.stringMatching(new RegExp(`: not ready: ${await reason()}$`)),
      fix: 'more about it: devmgr daemon status',
    });
  });

  test('a command reports after a second that the daemon does not answer, and gets its answer when it does', async () => {
    const home = freshHome();
    const { json } = await run(home, ['daemon', 'start', '--port', '0', '--json']);
    await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    process.kill(json.pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(json.pid, 'SIGCONT'));
    const listing = start(['list'], { home, env });
    await listing.until('stderr', new RegExp(`no answer from ${json.url} after 1 s; waiting for up to 15 s\n`));
    process.kill(json.pid, 'SIGCONT');
    expect((await listing.ended).code).toBe(0);
  });

  test('a start with options that the running daemon does not have fails, and names the restart that applies them', async () => {
    const home = freshHome();
    const start = (...args: string[]) => run(home, ['daemon', 'start', ...args]);
    await start('--port', '0', '--simulate-keys', '1');
    const { code, stderr } = await start(
      '--simulate-keys',
      '2',
      '--public-url',
      'https://keys.example',
      '--home',
      home,
    );
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/already running .*, without --simulate-keys, --public-url/),
    ]);
    const [, line] = /restart it with them: devmgr (.*)$/m.exec(stderr)!;
    expect((await run(home, line!.split(' '))).code).toBe(0);
    await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    expect((await run(home, ['keys', '--json'])).json.list).toHaveLength(2);
    expect((await start('--simulate-keys', '2', '--port', '0')).code).toBe(0);
    const moved = await start('--port', '1');
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining('without --port')]);
  });

  test('a daemon that was stopped is not restarted', async () => {
    const home = freshHome();
    await run(home, ['daemon', 'start', '--simulate-keys', '1', '--json']);
    await run(home, ['login', 'admin', '--password-stdin'], { input: adminPassword });
    const enrolling = start(['enroll', '--skip-attached', '--verbose'], { home, program: cheapProgram(), env });
    onTestFinished(() => void enrolling.child.kill());
    await enrolling.until('stderr', /was already attached/);
    expect((await run(home, ['daemon', 'stop'])).code).toBe(0);
    await enrolling.until('stderr', /(lost[\s\S]*){2}/);
    expect((await run(home, ['daemon', 'status'])).code).toBe(9);
  });

  test('if it cannot start, the error shows the end of its log', async () => {
    const home = freshHome();
    mkdirSync(join(home, 'devmgr.db'));
    const { code, stderr } = await run(home, ['list']);
    expect(code).toBe(9);
    expect(stderr).toContain('the end of its log:');
    expect(stderr).toMatch(/devmgr\.db|database/);
    expect(stderr).toContain('devmgr daemon logs');
  });

  test('a start and doctor name the proxy that is down, of the object store', async () => {
    const home = freshHome();
    const proxy = await closedAddress();
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    const files = 's3://bucket/?endpoint=https://files.example';
    const place = { env: { ...keys, HTTPS_PROXY: proxy.replace('://', '://ann:word@'), DEVMGR_FILES: files } };
    const failed = `the files cannot be stored in bucket: the object store failed through the proxy ${proxy} (HTTPS_PROXY): `;
    const { code, stderr } = await run(home, ['daemon', 'start', '--port', '0'], place);
    expect([code, stderr]).toEqual([9, expect.stringContaining(failed)]);
    const { code: found, json } = await run(home, ['doctor', '--json']);
    expect([found, json.checks]).toEqual([
      1,
      expect.arrayContaining([expect.objectContaining({ name: 'daemon', detail: expect.stringContaining(failed) })]),
    ]);
    expect(`${stderr}${JSON.stringify(json)}`).not.toContain('word');
    await run(home, ['daemon', 'start', '--port', '0']);
    await run(home, ['daemon', 'stop']);
    expect((await run(home, ['doctor', '--json'])).stdout).not.toContain('proxy');
  });

  test('a port that is in use is reported', async () => {
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
    ['the initial password', [], { DEVMGR_ADMIN_PASSWORD: 'short' }, 'DEVMGR_ADMIN_PASSWORD'],
  ])('%s with an invalid value is a usage error, as in the foreground', async (_, args, wrong, words) => {
    const { code, stderr } = await run(freshHome(), ['daemon', 'start', '--port', '0', '--json', ...args], {
      env: wrong,
    });
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 1001, message: expect.stringContaining(words) });
  });

  test('a home that cannot be used is reported', async () => {
    const home = join(freshHome(), 'file');
    writeFileSync(home, '');
    const { code, stderr } = await run(home, ['list']);
    expect(code).toBe(1);
    expect(stderr).toContain('--home DIR');
  });
});

describe('in the foreground', () => {
  test('a second daemon for the same home is refused; the error names the first', async () => {
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
  test('enrolls the first key without a terminal; a second run changes nothing', async () => {
    const home = freshHome();
    // Without a password in the environment a random one is created and read from its file.
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

test('the program is one file that needs no options of Node', () => {
  expect(readFileSync(programFile, 'utf8').startsWith('#!/usr/bin/env node')).toBe(true);
});
