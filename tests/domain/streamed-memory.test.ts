import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { YoungGrowth } from '../../daemon/base/streamed-memory.ts';

const MiB = 1024 * 1024;
let size: number;
let factors: number[];
let growth: YoungGrowth;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  size = 8 * MiB;
  factors = [];
  growth = new YoungGrowth({ size: () => size, growBy: factor => factors.push(factor) });
});

/** Streams that together send so many MiB, in pieces of 64 KiB. */
function stream(mebibytes: number): void {
  for (let sent = 0; sent < mebibytes * MiB; sent += MiB / 16) growth.streamed(MiB / 16);
}

test('16 MiB of content, of any number of streams, stop the growth once', () => {
  stream(15);
  expect(factors).toEqual([]);
  stream(1);
  expect(factors).toEqual([1]);
  stream(100);
  expect(factors).toEqual([1]);
});

test('growth is allowed again 10 s after the last 16 MiB', () => {
  stream(16);
  vi.advanceTimersByTime(9_000);
  stream(16);
  vi.advanceTimersByTime(9_000);
  expect(factors).toEqual([1]);
  vi.advanceTimersByTime(1_000);
  expect(factors).toEqual([1, 2]);
  stream(16);
  expect(factors).toEqual([1, 2, 1]);
});

test('memory that is small may grow, also if V8 has reduced it while content was streamed', () => {
  size = 4 * MiB;
  stream(16);
  expect(factors).toEqual([]);
  size = 5 * MiB;
  stream(16);
  expect(factors).toEqual([1]);
  size = 4 * MiB;
  stream(16);
  expect(factors).toEqual([1, 2]);
  expect(vi.getTimerCount()).toBe(0);
});

/**
 * The MiB that V8 gave to young objects for half of the time while three times 64 MiB of objects were made, in a process of its own. A
 * single value means little: V8 needs up to 31 MiB for moments although the growth is stopped, and it takes memory back from a process
 * that a busy machine slows down. With a compile cache V8 enlarges it less on its own.
 */
function usualYoung(streamed: number): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { youngGrowth } from ${JSON.stringify(join(import.meta.dirname, '../../daemon/base/streamed-memory.ts'))};
    const young = () => getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_size / ${MiB};
    let kept = [];
    while (young() <= 4) kept.push([{}]);
    youngGrowth.streamed(${streamed});
    const sizes = [];
    for (let round = 0; round < 3; round++) {
      kept = [];
      for (let i = 0; i < 1_000_000; i++) {
        kept.push([{}]);
        if (i % 1_000 === 0) sizes.push(young());
      }
    }
    console.log(sizes.sort((a, b) => a - b)[sizes.length / 2]);`;
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env }));
}

test('V8 keeps the memory of young objects small while content is streamed', () => {
  expect(usualYoung(16 * MiB)).toBeLessThanOrEqual(9);
  // On a busy machine V8 sometimes enlarges it a little on its own.
  const without: number[] = [];
  while (without.length < 8 && !without.some(usual => usual > 16)) without.push(usualYoung(0));
  expect(Math.max(...without)).toBeGreaterThan(16);
}, 60_000);
