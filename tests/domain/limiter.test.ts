import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Limiter } from '../../daemon/requests/limiter.ts';
import { MemoryCounters } from '../../daemon/store/memory/counters.ts';
import type { LimitScope } from '../../src/contract/limits.ts';
import { withBothStores } from '../support/limit-stores.ts';

function at(limit = { count: 3, seconds: 60 }, most?: number) {
  const clock = { monotonic: 1000, wall: 1_700_000_000_000 };
  const limiter = new Limiter(
    { login: limit, query: limit, modify: null, upload: limit },
    new MemoryCounters({ monotonic: () => clock.monotonic, wall: () => clock.wall, ...(most ? { most } : {}) }),
  );
  return { limiter, clock };
}

withBothStores('a rate limit', store => {
  const at = (limit = { count: 3, seconds: 60 }) =>
    store.limiter({ login: limit, query: limit, modify: null, upload: limit });

  test.each(['query', 'login'] as const)(
    'of the scope %s allows its count and then refuses until the window ends',
    async scope => {
      const { limiter, clock } = await at();
      const seen = [];
      for (let i = 0; i < 4; i++) seen.push((await limiter.count(scope, 'a'))!);
      expect(seen.map(one => [one.allowed, one.remaining])).toEqual([
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
      ]);
      expect(seen[3]).toMatchObject({ limit: 3, resetAt: 1_700_000_065, retryAfter: 60 });
      await clock.advance(60_000);
      expect((await limiter.count(scope, 'a'))!.allowed).toBe(true);
    },
  );
  test('starts its window with the first request, not with the minute', async () => {
    const { limiter, clock } = await at();
    await limiter.count('query', 'a');
    await clock.advance(59_999);
    await limiter.count('query', 'a');
    await limiter.count('query', 'a');
    expect((await limiter.count('query', 'a'))!.allowed).toBe(false);
    await clock.advance(1);
    expect((await limiter.count('query', 'a'))!.allowed).toBe(true);
  });
  test('counts each key and each scope separately', async () => {
    const { limiter } = await at({ count: 1, seconds: 60 });
    const isAllowed = async (scope: LimitScope, key: string) => (await limiter.count(scope, key))!.allowed;
    expect(await isAllowed('query', 'a')).toBe(true);
    expect(await isAllowed('query', 'b')).toBe(true);
    expect(await isAllowed('login', 'a')).toBe(true);
    expect(await isAllowed('query', 'a')).toBe(false);
  });
  test('gives back what was counted, within the same window', async () => {
    const { limiter } = await at({ count: 1, seconds: 60 });
    for (let i = 0; i < 3; i++) {
      expect((await limiter.count('login', 'a'))!.allowed).toBe(true);
      limiter.giveBack('login', 'a');
    }
    limiter.giveBack('login', 'a');
    expect((await limiter.count('login', 'a'))!.allowed).toBe(true);
    expect((await limiter.count('login', 'a'))!.allowed).toBe(false);
  });
  test('of many requests at the same time is its count', async () => {
    const { limiter } = await at({ count: 40, seconds: 60 });
    for (const scope of ['query', 'login'] as const) {
      const all = await Promise.all(Array.from({ length: 100 }, () => limiter.count(scope, 'a')));
      expect(all.filter(one => one!.allowed)).toHaveLength(40);
    }
  });
  test('that is off returns null', async () => {
    const { limiter } = await at();
    expect(limiter.count('modify', 'a')).toBeNull();
  });
});

describe('a rate limit in memory', () => {
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

describe('the cost of a limit', () => {
  test('does not depend on how many addresses have a window', () => {
    const { limiter } = at();
    const fill = (from: number, to: number) => {
      for (let i = from; i < to; i++) limiter.count('login', `address ${i}`);
    };
    fill(0, 50_000);
    // Each window that a search looks at is a step of an iterator.
    const iterator: { next(): unknown } = Object.getPrototypeOf(new Map().entries());
    const { next } = iterator;
    onTestFinished(() => void Object.assign(iterator, { next }));
    let steps = 0;
    iterator.next = function () {
      steps++;
      return next.call(this);
    };
    fill(50_000, 51_000);
    expect(steps).toBeLessThan(2_000);
  });
  test('is bounded in memory: beyond a number of windows the oldest are forgotten', () => {
    const { limiter } = at({ count: 1, seconds: 60 }, 10);
    const isAllowed = (key: string) => limiter.count('login', key)!.allowed;
    expect(isAllowed('first')).toBe(true);
    for (let i = 0; i < 4; i++) isAllowed(`other ${i}`);
    expect(isAllowed('first')).toBe(false);
    for (let i = 4; i < 10; i++) isAllowed(`other ${i}`);
    expect(isAllowed('first')).toBe(true);
  });
  test('forgets no window before its end, whenever others begin', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(40_000), fc.nat(5)), { maxLength: 200 }), steps => {
        const { limiter, clock } = at({ count: 1, seconds: 60 });
        const endsAt = new Map<number, number>();
        for (const [step, key] of steps) {
          clock.monotonic += step;
          const isOpen = (endsAt.get(key) ?? 0) > clock.monotonic;
          expect(limiter.count('query', String(key))!.allowed).toBe(!isOpen);
          if (!isOpen) endsAt.set(key, clock.monotonic + 60_000);
        }
      }),
    );
  });
});
