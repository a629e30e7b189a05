/** The pauses before a local daemon is started again. */
import { expect, test } from 'vitest';
import { StartBackoff } from '../../src/cli/session/endpoints.ts';

test('the first start is immediate, further ones wait 1 s, doubled up to 30 s, until no start for 5 minutes', () => {
  let now = 0;
  const backoff = new StartBackoff(() => now);
  const pauses = Array.from({ length: 8 }, () => {
    const pause = backoff.next();
    now += pause;
    return pause;
  });
  expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  now += 300_000;
  expect(backoff.next()).toBe(30_000);
  now += 30_000 + 300_001;
  expect(backoff.next()).toBe(0);
});
