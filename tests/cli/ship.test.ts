/** `devmgr ship` against a real daemon. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const { deviceId, activationCode } = await daemon.register('SHIP-1');
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  await daemon.register('SHIP-2');
});
afterAll(() => discard(daemon));

test('a device is on its way to its person, and its details have the time', async () => {
  const sent = await daemon.run(['ship', 'SHIP-1', '--json']);
  expect(sent).toMatchObject({ code: 0, json: { deviceId: 'DEV-1', status: 'ACTIVE', shippedAt: expect.any(String) } });
  expect((await daemon.run(['ship', 'DEV-1', '--quiet'])).stdout).toBe('DEV-1\n');
  expect((await daemon.run(['show', 'DEV-1'])).stdout).toContain('sent to its person');
  expect((await daemon.call('GET', '/api/devices/DEV-1')).receivedAt).toBeNull();
});

test.each([
  ['a device without a person', 'SHIP-2', 2, 'not active'],
  ['an unknown device', 'DEV-99', 5, 'DEV-99'],
])('%s is refused', async (_what, device, code, message) => {
  expect(await daemon.run(['ship', device])).toMatchObject({ code, stderr: expect.stringContaining(message) });
});
