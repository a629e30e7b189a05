/** Each documented exit code, with its cause. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
let viewerToken: string;
beforeAll(async () => {
  daemon = await startDaemon();
  await daemon.call('POST', '/api/users', { username: 'viewer', password: adminPassword, role: 'VIEWER' });
  const answer = await fetch(`${daemon.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'viewer', password: adminPassword }),
  });
  viewerToken = ((await answer.json()) as { data: { token: string } }).data.token;
});
afterAll(() => discard(daemon));

/** Exit code, and the error as JSON on standard error; standard output stays empty. */
async function failure(args: readonly string[], options: Parameters<typeof devmgr>[1] = {}) {
  const { code, stdout, stderr } = await daemon.run([...args, '--json'], options);
  expect(stdout).toBe('');
  const { error } = JSON.parse(stderr) as { error: { code: unknown; message: string; hint: string | null } };
  expect(Object.keys(error)).toEqual(['code', 'message', 'hint']);
  return { exit: code, ...error };
}

describe('2: usage or parameter', () => {
  test.each([
    ['an unknown command', ['lits'], 'did you mean list?'],
    ['import, as other programs have it', ['import', 'keys.csv'], 'devmgr register --file FILE'],
    ['find', ['find', 'UK-1'], 'devmgr search TEXT'],
    ['get', ['get', 'DEV-1'], 'devmgr show DEVICE'],
    ['delete', ['delete', 'DEV-1'], 'devmgr deactivate DEVICE'],
    ['an unknown flag', ['list', '--tpye', 'UKEY'], 'did you mean --type?'],
    ['a value that is not one of the choices', ['list', '--status', 'ACTIV'], 'devmgr list --help'],
    ['a flag without its value', ['list', '--keyword'], '--keyword=--json'],
    ['a value that is not a number', ['list', '--page', 'two'], null],
    ['too many arguments', ['show', 'DEV-1', 'DEV-2'], 'devmgr show --help'],
    ['a missing flag without a terminal', ['register', '--type', 'UKEY'], '--file'],
    ['a missing confirmation', ['deactivate', 'DEV-1', '--reason', 'x'], '--yes'],
    ['a missing password', ['deactivate', 'DEV-1', '--reason', 'x', '--yes'], '--password-stdin'],
    ['an invalid server address', ['list', '--server', 'gopher://x'], 'http'],
  ])('%s', async (_, args, hint) => {
    const error = await failure(args);
    expect(error).toMatchObject({ exit: 2, code: 1001 });
    if (hint !== null) expect(error.hint).toContain(hint);
  });

  test('a parameter error of the server', async () => {
    const register = ['register', '--type', 'UKEY', '--serial', 'with space', '--manufacturer', 'A', '--model', 'B'];
    expect(await failure(register)).toMatchObject({
      exit: 2,
      code: 1001,
      message: expect.stringContaining('serialNumber'),
    });
    expect(await failure(['list', '--size', '101'])).toMatchObject({
      exit: 2,
      code: 1001,
      message: expect.stringContaining('size'),
    });
    const { deviceId } = await daemon.register('EXIT-INACTIVE');
    expect(await failure(['lock', deviceId, '--reason', 'x'])).toMatchObject({ exit: 2, code: 1001 });
  });

  test('all missing flags are named at once', async () => {
    expect((await failure(['register', '--serial', 'X-1'])).message).toBe(
      'register needs --type, --manufacturer, --model',
    );
  });
});

describe('3: not logged in, or login refused', () => {
  test('there is no login', async () => {
    const home = temporaryFolder();
    expect(await failure(['list', '--server', daemon.url], { home })).toMatchObject({
      exit: 3,
      code: 1004,
      hint: `log in: devmgr login --server ${daemon.url}`,
    });
  });

  test.each([
    ['an unknown user', 'no-such-user', adminPassword, 1002],
    ['a wrong password', 'admin', 'wrong', 1003],
  ])('%s', async (_, username, password, code) => {
    const args = ['login', username, '--password-stdin', '--server', daemon.url];
    expect(await failure(args, { home: temporaryFolder(), input: password })).toMatchObject({ exit: 3, code });
  });

  test('an invalid token', async () => {
    expect(await failure(['list'], { env: { DEVMGR_TOKEN: 'a.b.c' } })).toMatchObject({ exit: 3, code: 1004 });
  });

  test('a wrong confirmation', async () => {
    const { deviceId } = await daemon.register('EXIT-CONFIRM');
    const args = ['deactivate', deviceId, '--reason', 'x', '--yes', '--password-stdin'];
    expect(await failure(args, { input: 'wrong' })).toMatchObject({ exit: 3, code: 1003 });
  });
});

test('4: no permission', async () => {
  const args = ['register', '--type', 'UKEY', '--serial', 'X-1', '--manufacturer', 'A', '--model', 'B'];
  expect(await failure(args, { env: { DEVMGR_TOKEN: viewerToken } })).toMatchObject({ exit: 4, code: 2007 });
});

describe('5: does not exist', () => {
  test.each([
    ['a deviceId', ['show', 'DEV-999'], 2001],
    ['a serial number', ['show', 'NO-SUCH'], 2001],
    ['a version', ['apps', 'download', 'APP-999'], 4001],
    ['no version yet', ['apps', 'latest', '--platform', 'IOS'], 4001],
    ['a user', ['users', 'update', 'USR-999', '--disable'], 404],
  ])('%s', async (_, args, code) => {
    expect(await failure(args)).toMatchObject({ exit: 5, code });
  });

  test('the hint names a serial number that differs only in case', async () => {
    await daemon.register('EXIT-Case');
    expect((await failure(['show', 'exit-case'])).hint).toContain('did you mean EXIT-Case');
  });
});

describe('6: refused', () => {
  test('a duplicate; the message names the existing device', async () => {
    const { deviceId } = await daemon.register('EXIT-DUP');
    const args = ['register', '--type', 'UKEY', '--serial', 'EXIT-DUP', '--manufacturer', 'A', '--model', 'B'];
    const error = await failure(args);
    expect(error).toMatchObject({ exit: 6, code: 2006 });
    expect(error.message).toContain(deviceId);
  });

  test('state and activation code', async () => {
    const { deviceId, activationCode } = await daemon.register('EXIT-STATE');
    const activate = (code: string) => failure(['activate', deviceId, '--code', code, '--user', 'a']);
    expect(await activate('AAAA-AAAA-AAAA-AAAA')).toMatchObject({ exit: 6, code: 2003 });
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'a' });
    expect(await activate(activationCode)).toMatchObject({ exit: 6, code: 2002 });
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'x' });
    expect(await failure(['update', deviceId, '--note', 'x'])).toMatchObject({ exit: 6, code: 2004 });
    await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, { reason: 'x', confirmPassword: adminPassword });
    expect(await failure(['unlock', deviceId])).toMatchObject({ exit: 6, code: 2005 });
  });
});

test('7: some lines of a file failed', async () => {
  const file = join(temporaryFolder(), 'keys.csv');
  writeFileSync(file, 'type,serial,manufacturer,model\nUKEY,EXIT-7,A,B\nUKEY,EXIT-8,A,\n');
  const { code, rows, stderr } = await daemon.run(['register', '--file', file, '--json']);
  expect(code).toBe(7);
  expect(rows.map(row => row.status)).toEqual(['success', 'failed']);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'PARTIAL_FAILURE',
    message: expect.stringContaining('1 of 2 lines failed'),
  });
});

test('9: no server, and how it is started', async () => {
  expect(await failure(['list', '--server', 'http://127.0.0.1:1'])).toMatchObject({ exit: 9, code: 'UNREACHABLE' });
  expect(await failure(['list', '--server', 'http://no-such-name.invalid'])).toMatchObject({ exit: 9 });
  const local = await failure(['list', '--no-autostart'], { home: temporaryFolder() });
  expect(local).toMatchObject({ exit: 9, hint: 'start it: devmgr daemon start' });
});

test('10: no key in time', async () => {
  expect(await failure(['enroll', '--count', '1', '--timeout', '1'])).toMatchObject({ exit: 10, code: 'HARDWARE' });
  expect(await failure(['show', '--plugged'])).toMatchObject({ exit: 10 });
});

test.each([['nosuch'], ['DEV-999999']])('5: the journal of a device that does not exist: %s', async device => {
  const { code, stdout, stderr } = await daemon.run(['daemon', 'audit', '--device', device]);
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  expect(stderr).toContain(`no device has the id or serial number ${device}`);
});

test('130: interrupted', async () => {
  const running = daemon.start(['login', 'admin', '--password-stdin'], { input: null });
  await running.until('stderr', /waiting for/);
  running.child.kill('SIGINT');
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toContain('interrupted');
});

test('130: Ctrl-C at watch ends with a summary, not with an error', async () => {
  const running = daemon.start(['watch']);
  await running.until('stderr', /connected/);
  running.child.kill('SIGINT');
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(/^0 events shown$/m);
  expect(stderr).not.toMatch(/interrupted|devmgr:/);
});

describe('8: a limit', () => {
  let limited: Daemon;
  beforeAll(async () => {
    limited = await startDaemon({ env: { DEVMGR_LIMIT_QUERY: '2/3' } });
  });
  afterAll(() => discard(limited));

  test('is waited out, saying so; with --no-wait it is given up', async () => {
    for (const _ of [1, 2]) await limited.call('GET', '/api/users/me');
    const hasty = await limited.run(['whoami', '--no-wait', '--json']);
    expect(hasty.code).toBe(8);
    expect(JSON.parse(hasty.stderr).error.code).toBe(429);
    // A script reads standard error as JSON.
    const script = await limited.run(['whoami', '--json']);
    expect(script).toMatchObject({ code: 0, stderr: '' });
    await limited.call('GET', '/api/users/me');
    const patient = await limited.run(['whoami']);
    expect(patient.code).toBe(0);
    expect(patient.stderr).toMatch(/limit is reached; continuing in \d+ s, at \d\d:\d\d:\d\d \(/);
  });

  test('is not reached by a list of all devices, however many; in another order, a notice has the time of the whole', async () => {
    const many = await startDaemon({ env: { DEVMGR_LIMIT_QUERY: '2/3' } });
    onTestFinished(() => discard(many));
    const device = { deviceType: 'UKEY', manufacturer: 'Acme', model: 'One' };
    const devices = Array.from({ length: 450 }, (_, n) => ({ ...device, serialNumber: `MANY-${n}` }));
    await many.call('POST', '/api/devices/batch-register', { devices });
    const all = (...args: string[]) => many.run(['list', '--all', '--json', ...args]);
    const { code, rows, stderr } = await all();
    expect({ code, stderr, ids: rows.map(({ deviceId }) => deviceId) }).toEqual({
      code: 0,
      stderr: '',
      ids: devices.map((_, n) => `DEV-${450 - n}`),
    });
    expect((await all('--order', 'asc', '--sort', 'deviceId')).rows[0].deviceId).toBe('DEV-1');
    const sorted = await many.run(['list', '--all', '--sort', 'model']);
    expect(sorted.stdout.trim().split('\n')).toHaveLength(1 + 450);
    expect(sorted.stderr).toMatch(/continuing in \d+ s, at [\d:]+; about 1 minute in all/);
  });
});

test('a command that can no longer finish ends with 1, not with 0', async () => {
  // The output is never written, so that the command waits although nothing is left that could wake it.
  const preload = join(temporaryFolder(), 'no-output.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs');
    const { writeSync } = fs;
    fs.writeSync = (fd, ...rest) => {
      if (fd === 1) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
      return writeSync(fd, ...rest);
    };
    process.stdout.write = () => true;`,
  );
  const { code, stderr } = await devmgr(['version', '--quiet'], { env: { NODE_OPTIONS: `--require=${preload}` } });
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'devmgr: the command ended without a result\n' });
});
