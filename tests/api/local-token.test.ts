import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { day, second } from '../support/clock.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: Date.now() });
  daemon = await startTestDaemon();
});
afterAll(async () => {
  vi.useRealTimers();
  await daemon.stop();
});

const localToken = async () => (await readFile(join(daemon.home, 'local-token'), 'utf8')).trim();
const tried = async () =>
  (await daemon.call('GET', '/api/hardware/keys', undefined, { token: await localToken() })).code;

it('the local token is valid soon after the machine has slept for days', async () => {
  expect(await tried()).toBe(200);
  // While a machine sleeps, the clock continues but the timers of a process do not.
  vi.setSystemTime(Date.now() + 2 * day);
  expect(await tried()).toBe(1005);
  vi.advanceTimersByTime(10 * second);
  await expect.poll(tried, { timeout: 20_000 }).toBe(200);
});

it('the local token stays the same for half its lifetime and is then renewed', async () => {
  const first = await localToken();
  vi.setSystemTime(Date.now() + day / 3);
  vi.advanceTimersByTime(10 * second);
  expect(await localToken()).toBe(first);
  vi.setSystemTime(Date.now() + day / 3);
  vi.advanceTimersByTime(10 * second);
  await expect.poll(localToken, { timeout: 20_000 }).not.toBe(first);
});
