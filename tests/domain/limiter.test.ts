import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Limiter } from '../../daemon/services/limiter.ts';

function at(limit = { count: 3, seconds: 60 }) {
  const clock = { monotonic: 1000, wall: 1_700_000_000_000 };
  const limiter = new Limiter(
    { login: limit, query: limit, modify: null, upload: limit },
    { monotonic: () => clock.monotonic, wall: () => clock.wall },
  );
  return { limiter, clock };
}

describe('a rate limit', () => {
  test('allows its count and then refuses until the window ends', () => {
    const { limiter, clock } = at();
    const seen = [1, 2, 3, 4].map(() => limiter.count('query', 'a')!);
    expect(seen.map(one => [one.allowed, one.remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(seen[3]).toMatchObject({ limit: 3, resetAt: 1_700_000_060, retryAfter: 60 });
    clock.monotonic += 60_000;
    expect(limiter.count('query', 'a')!.allowed).toBe(true);
  });
  test('starts its window with the first request, not with the minute', () => {
    const { limiter, clock } = at();
    limiter.count('query', 'a');
    clock.monotonic += 59_999;
    limiter.count('query', 'a');
    limiter.count('query', 'a');
    expect(limiter.count('query', 'a')!.allowed).toBe(false);
    clock.monotonic += 1;
    expect(limiter.count('query', 'a')!.allowed).toBe(true);
  });
  test('counts each key and each scope separately', () => {
    const { limiter } = at({ count: 1, seconds: 60 });
    expect(limiter.count('query', 'a')!.allowed).toBe(true);
    expect(limiter.count('query', 'b')!.allowed).toBe(true);
    expect(limiter.count('login', 'a')!.allowed).toBe(true);
    expect(limiter.count('query', 'a')!.allowed).toBe(false);
  });
  test('that is off returns null', () => {
    expect(at().limiter.count('modify', 'a')).toBeNull();
  });
  test('is not affected by a jump of the wall clock', () => {
    const { limiter, clock } = at({ count: 1, seconds: 60 });
    limiter.count('query', 'a');
    clock.wall += 86_400_000;
    expect(limiter.count('query', 'a')!.allowed).toBe(false);
    clock.monotonic += 60_000;
    clock.wall -= 2 * 86_400_000;
    expect(limiter.count('query', 'a')!.allowed).toBe(true);
  });
  test('never allows more than its count in a window', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30_000), { maxLength: 200 }), steps => {
        const { limiter, clock } = at();
        const passed: number[] = [];
        for (const step of steps) {
          clock.monotonic += step;
          if (limiter.count('query', 'a')!.allowed) passed.push(clock.monotonic);
        }
        let windowStart = Number.NEGATIVE_INFINITY;
        let inWindow = 0;
        for (const time of passed) {
          if (time >= windowStart + 60_000) [windowStart, inWindow] = [time, 0];
          expect(++inWindow).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});
