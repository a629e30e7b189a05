/** Hints: they use the names that were typed, and work when they are typed. */
import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Daemon, devmgr, discard, follow, programFile, start, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const hintsOf = async (...args: Parameters<Daemon['run']>) => (await daemon.run(...args)).stderr;

describe('a hint', () => {
  test('names the device', async () => {
    const { deviceId, activationCode } = await daemon.register('HINT-1');
    const single = ['register', '--type', 'UKEY', '--serial', 'HINT-1', '--manufacturer', 'A', '--model', 'B'];
    expect(await hintsOf(single)).toContain('devmgr show HINT-1\n');
    const activate = (code: string) => hintsOf(['activate', 'HINT-1', '--code', code, '--user', 'u']);
    expect(await activate('AAAA-AAAA-AAAA-AAAA')).toContain(`devmgr replace-code ${deviceId} --reason`);
    await activate(activationCode);
    expect(await activate(activationCode)).toContain(`devmgr show ${deviceId}\n`);
    await daemon.run(['lock', 'HINT-1', '--reason', 'lost']);
    expect(await hintsOf(['lock', 'HINT-1', '--reason', 'lost'])).toContain(
      `is already locked\n  → see who locked it, and why: devmgr show ${deviceId}\n`,
    );
    expect(await hintsOf(['update', 'HINT-1', '--note', 'lost'])).toContain(`devmgr unlock ${deviceId}\n`);
  });

  test('names DEVMGR_TOKEN if that token is invalid', async () => {
    const env = { DEVMGR_TOKEN: 'wrong' };
    const stderr = await hintsOf(['list'], { env });
    expect(stderr).toContain('→ unset or replace DEVMGR_TOKEN');
    expect(stderr).not.toContain('devmgr login');
    expect((await daemon.run(['doctor'], { env })).stdout).toContain('→ unset or replace DEVMGR_TOKEN');
  });

  test('to log in names the profile and the server that were given', async () => {
    await daemon.run(['config', 'set', 'server', daemon.url, '--profile', 'other']);
    expect(
      await hintsOf(['list', '--profile', 'other', '--server', daemon.url.replace('127.0.0.1', 'localhost')]),
    ).toMatch(/→ log in: devmgr login --profile other --server http:\/\/localhost:\d+\n/);
  });

  test('names the search for a device that does not exist', async () => {
    for (const name of ['DEV-9999', 'NO-SUCH'])
      expect(await hintsOf(['show', name])).toContain('find it: devmgr search TEXT\n');
  });

  test('names the user or package that does not exist, and the command that lists them', async () => {
    expect(await hintsOf(['users', 'update', 'USR-99', '--disable'])).toMatch(
      /does not exist: USR-99\n.*devmgr users list/,
    );
    expect(await hintsOf(['apps', 'download', 'APP-77'])).toMatch(/does not exist: APP-77\n.*devmgr apps list/);
  });

  test('is not needed if the message is a sentence: it does not begin with the name of a field', async () => {
    expect(await hintsOf(['users', 'update', 'admin', '--disable'])).toBe('devmgr: admin is the last enabled ADMIN\n');
    expect(await hintsOf(['policies', 'sign-in', '--require-key', 'ADMIN'])).toMatch(
      /^devmgr: you have the role ADMIN; /,
    );
  });

  test('and its message name the option, not the field', async () => {
    const stderr = await hintsOf([
      'register',
      '--type',
      'UKEY',
      '--serial',
      'a b',
      '--manufacturer',
      'A',
      '--model',
      'B',
    ]);
    expect(stderr).toMatch(/devmgr: serial must be /);
    expect(stderr).not.toContain('serialNumber');
    expect(await hintsOf(['list', '--sort', 'model', '--size', '101'])).toMatch(
      /devmgr: option '--size <N>' argument '101' is invalid/,
    );
  });

  test('names the password, not the field', async () => {
    const { deviceId } = await daemon.register('HINT-2');
    const args = ['deactivate', deviceId, '--reason', 'old', '--yes', '--password-stdin'];
    const stderr = await hintsOf(args, { input: 'wrong password\n' });
    expect(stderr).toContain("the administrator's password is wrong");
    expect(stderr).not.toContain('confirmPassword');
  });
});

test.each([['--bogus'], ['-v', '--bogus=1'], ['-x']])(
  'an unknown flag without a command is named: %s',
  async (...args) => {
    const { code, stdout, stderr } = await devmgr(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`unknown option '${args.at(-1)!.split('=')[0]}'`);
    expect(stderr).not.toContain('Usage');
  },
);

test('flags that need --file are rejected without it', async () => {
  const single = ['register', '--type', 'UKEY', '--serial', 'HINT-3', '--manufacturer', 'A', '--model', 'B', '--csv'];
  const { code, stderr } = await daemon.run(single);
  expect(code).toBe(2);
  expect(stderr).toContain("option '--csv' needs option '--file'");
});

test('a code that is not visible to the role is a permission error', async () => {
  const { deviceId } = await daemon.register('HINT-4');
  await daemon.run(['users', 'add', 'viewer', '--role', 'VIEWER', '--password-stdin'], {
    input: 'a viewer password\n',
  });
  const home = temporaryFolder();
  await devmgr(['login', 'viewer', '--server', daemon.url, '--password-stdin'], { home, input: 'a viewer password\n' });
  expect((await devmgr(['show', deviceId, '--qr'], { home })).code).toBe(4);
});

test('doctor reports a home folder that cannot be created', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o555);
  // Root can write everywhere, so the program runs as another user.
  const otherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const env = { PATH: process.env.PATH, DEVMGR_HOME: join(folder, 'a', 'home'), DEVMGR_NO_KEYCHAIN: '1' };
  const child = spawn(process.execPath, [programFile, 'doctor'], { env, ...otherUser });
  const { stdout } = await follow(child).ended;
  expect(stdout).toContain(`cannot be used: nothing can be created in ${folder} (permission denied)`);
});

test('a rate limit that ends years from now is retried after an hour, not at once', async () => {
  let asked = 0;
  const server = createServer((_, answer) => {
    asked++;
    answer.writeHead(429, { 'x-ratelimit-reset': String(Math.round(Date.now() / 1000) + 10 ** 8) });
    answer.end(JSON.stringify({ code: 429, message: 'too many', data: null }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = start(['list', '--server', url], { env: { DEVMGR_TOKEN: 'x' } });
  await running.until('stderr', /continuing in 3600 s/);
  running.child.kill('SIGINT');
  expect({ code: (await running.ended).code, asked }).toEqual({ code: 130, asked: 1 });
});

test('too many arguments are counted and not repeated: one may be a password', async () => {
  const { code, stderr } = await devmgr(['login', 'admin', 'hunter-2']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/too many arguments.* but got 2\./);
  expect(stderr).not.toContain('hunter');
});
