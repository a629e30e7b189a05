/** `devmgr record-use` against a real daemon. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseDuration } from '../../src/cli/commands/devices/usage.ts';
import { type Daemon, devmgr, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const { deviceId, activationCode } = await daemon.register('USE-1');
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  await daemon.register('USE-2');
});
afterAll(() => discard(daemon));

test('each use adds to the totals, which are printed', async () => {
  const first = await daemon.run(['record-use', 'USE-1', '--seconds', '95', '--json']);
  expect(first).toMatchObject({ code: 0, json: { deviceId: 'DEV-1', totalUsageCount: 1, totalUsageDuration: 95 } });
  const second = await daemon.run(['record-use', 'DEV-1', '--duration', '1h30m']);
  expect(second.code).toBe(0);
  expect(second.stdout).toContain('DEV-1 has been used 2 times');
  expect(second.stdout).toContain('1h 31m (5495 s)');
  expect((await daemon.call('GET', '/api/devices/DEV-1')).statistics).toMatchObject({
    totalUsageCount: 2,
    totalUsageDuration: 5495,
  });
  expect((await daemon.run(['record-use', 'DEV-1', '--seconds', '0', '--quiet'])).stdout).toBe('DEV-1\n');
});

test.each([
  ['without a length', ['record-use', 'DEV-1'], 2, '--seconds or --duration'],
  ['with both lengths', ['record-use', 'DEV-1', '--seconds', '1', '--duration', '1s'], 2, '--duration'],
  ['with a negative length', ['record-use', 'DEV-1', '--seconds', '-1'], 2, 'whole number'],
  ['with a length that is too long', ['record-use', 'DEV-1', '--duration', '367d'], 2, '366 days'],
  ['of a device that is not active', ['record-use', 'USE-2', '--seconds', '1'], 2, 'not active'],
  ['of an unknown device', ['record-use', 'DEV-99', '--seconds', '1'], 5, 'DEV-99'],
  ['of an unknown serial number', ['record-use', 'NONE', '--seconds', '1'], 5, 'NONE'],
])('%s is refused', async (_, args, exit, words) => {
  const { code, stdout, stderr } = await daemon.run(args);
  expect(code).toBe(exit);
  expect(stdout).toBe('');
  expect(stderr).toContain(words);
});

test('a VIEWER may not record a use', async () => {
  await daemon.call('POST', '/api/users', { username: 'viewer', password: 'a long password', role: 'VIEWER' });
  const { data } = (await (
    await fetch(`${daemon.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'viewer', password: 'a long password' }),
    })
  ).json()) as { data: { token: string } };
  const env = { DEVMGR_TOKEN: data.token };
  expect((await devmgr(['record-use', 'DEV-1', '--seconds', '1'], { home: daemon.home, env })).code).toBe(4);
});

test.each([
  ['45s', 45],
  ['90m', 5400],
  ['1h30m', 5400],
  ['2d', 172_800],
  ['1D2H3M4S', 93_784],
  [' 0s ', 0],
  ['366d', 31_622_400],
])('%j is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toEqual({ seconds, fault: null });
});

test.each(['', '90', '1.5h', '30m1h', '1h1h', '-5m', '5 m', '1h30', 'h', '1w', '366d1s', '999999999s'])(
  '%j is not a length of time',
  text => {
    expect(parseDuration(text).fault).not.toBeNull();
  },
);
