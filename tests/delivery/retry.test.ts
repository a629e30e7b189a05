/** The states of an item that is delivered: what follows from each attempt, as a table. */
import { describe, expect, it, test } from 'vitest';
import {
  type AttemptResult,
  afterAttempt,
  doubling,
  type RetryPolicy,
  untried,
  waitMs,
} from '../../src/delivery/retry.ts';
import { policies } from '../../src/delivery/schedules.ts';

const policy: RetryPolicy = { pauses: [1, 10], retries: 3, patienceMs: 60_000, longestWait: 100, jitter: [1, 1] };
const failedSince = (failures: number, failingSince = 0) => ({ failures, failingSince, nextAt: 5000 });
const at = (now: number, random = 0) => ({ startedAt: now - 10, endedAt: now, random });
const again = (waitSeconds: number | null = null) => ({ result: 'again', waitSeconds }) as const;
const delivered = { result: 'delivered', waitSeconds: null } as const;
const gone = { result: 'gone', waitSeconds: null } as const;

test.each([
  ['the first attempt delivers', untried, delivered, 500, 'advance', untried],
  ['a further attempt delivers', failedSince(2), delivered, 5000, 'advance', untried],
  ['the first attempt fails', untried, again(), 500, 'retry', { failures: 1, failingSince: 490, nextAt: 1500 }],
  ['a further attempt fails', failedSince(1), again(), 5000, 'retry', { failures: 2, failingSince: 0, nextAt: 15_000 }],
  ['the last pause repeats', failedSince(2), again(), 5000, 'retry', { failures: 3, failingSince: 0, nextAt: 15_000 }],
  ['the last attempt fails', failedSince(3), again(), 5000, 'give-up', { failures: 4, failingSince: 0, nextAt: null }],
  ['the patience ends', failedSince(1), again(), 60_000, 'give-up', { failures: 2, failingSince: 0, nextAt: null }],
  ['the receiver refuses', untried, gone, 500, 'give-up', { failures: 1, failingSince: 490, nextAt: null }],
  ['the receiver asks to wait', untried, again(7), 500, 'retry', { failures: 1, failingSince: 490, nextAt: 7500 }],
  ['it asks for too long', untried, again(999), 500, 'retry', { failures: 1, failingSince: 490, nextAt: 100_500 }],
  ['it asks for less', failedSince(1), again(2), 5000, 'retry', { failures: 2, failingSince: 0, nextAt: 15_000 }],
] as const)('%s', (_, before, result, now, next, state) => {
  expect(afterAttempt(policy, before, result, at(now))).toEqual({ next, state });
});

it('moves each pause by the jitter of the policy', () => {
  const nextAt = (random: number) =>
    afterAttempt({ ...policy, jitter: [0.5, 1.5] }, untried, again(), at(0, random)).state.nextAt;
  expect([0, 0.5, 1].map(nextAt)).toEqual([500, 1000, 1500]);
});

it('ends after the retries of a schedule, and repeats its last pause until then', () => {
  const schedule = { pauses: [1, 10], retries: 3 } as const;
  expect([0, 1, 2, 3].map(failures => waitMs(schedule, failures))).toEqual([1000, 10_000, 10_000, null]);
});

it('doubles pauses up to the longest', () => {
  expect(doubling(0.5, 60)).toEqual([0.5, 1, 2, 4, 8, 16, 32, 60]);
  expect(doubling(5, 5)).toEqual([5]);
});

describe('watch --forward-to', () => {
  const forward: RetryPolicy = policies.watch;
  const pauseAfter = (failures: number, waitSeconds: AttemptResult['waitSeconds']) => {
    const before = { failures, failingSince: 0, nextAt: 0 };
    const { state } = afterAttempt(forward, before, again(waitSeconds), {
      startedAt: 0,
      endedAt: 0,
      random: Math.random(),
    });
    return state.nextAt! / 1000;
  };

  test.each([0, -5, null])('pauses grow although the receiver asks for %s seconds', wait => {
    const pauses = [0, 1, 2, 3].map(failures => pauseAfter(failures, wait));
    for (const [failures, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(2 ** failures / 2);
    expect(pauseAfter(1_000, wait)).toBeLessThanOrEqual(300);
  });

  test('waits as long as the receiver asks, at most an hour', () => {
    expect([pauseAfter(0, 90), pauseAfter(9, 999_999_999)]).toEqual([90, 3_600]);
  });
});
