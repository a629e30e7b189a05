/** The figures of a report, against figures that are counted one by one. */
import { expect, test } from 'vitest';
import { IdSet } from '../../src/fleet/id-set.ts';
import { Gaps, Timeline } from '../../src/fleet/timeline.ts';

/** Numbers from 0 to 1 that are the same in each run. */
function* numbers(): Generator<number, never> {
  let state = 7;
  for (;;) {
    state = (state * 48_271) % 2_147_483_647;
    yield state / 2_147_483_647;
  }
}
const random = numbers();

test.each([
  [1_000, 1],
  [60_000, 5],
  [3_600_000, 360],
  [5 * 86_400_000, 40_320],
])('bins of registrations that are %d ms apart have %d minutes, and lose none', (step, minutes) => {
  const times = Array.from({ length: 100 }, (_, at) => Date.UTC(2026, 0, 5) + at * step);
  const timeline = new Timeline();
  for (const time of times.toReversed()) timeline.take(time);
  expect(timeline.minutes).toBe(minutes);
  const width = minutes * 60_000;
  for (const { start, count, perHour } of timeline.bins) {
    const from = Date.parse(start);
    expect(from % width).toBe(0);
    expect(count).toBe(times.filter(time => time >= from && time < from + width).length);
    expect(perHour).toBeCloseTo((count * 60) / minutes, 1);
  }
  expect(timeline.bins.reduce((sum, { count }) => sum + count, 0)).toBe(100);
  expect(timeline.bins.length).toBeLessThanOrEqual(24);
  expect([timeline.first, timeline.last]).toEqual([times[0]!, times.at(-1)!].map(time => new Date(time).toISOString()));
  expect(timeline.perHour).toBeCloseTo(3_600_000 / step, 1);
});

test('times of clocks that are thousands of years apart are few bins', () => {
  const timeline = new Timeline();
  for (const time of [-8.64e15, 0, 8.64e15]) timeline.take(time);
  expect(timeline.bins.length).toBeLessThan(1_000);
  expect(timeline.perHour).toBe(0);
});

test('one registration has no rate and no gap', () => {
  const timeline = new Timeline();
  timeline.take(0);
  expect([timeline.perHour, new Gaps().quantile(0.5)]).toEqual([null, null]);
});

test('median and p95 are those of the sorted gaps', () => {
  const gaps = new Gaps();
  const all = Array.from({ length: 999 }, () => Math.round(100 * 1_000 ** (2 * random.next().value)));
  for (const gap of all) gaps.take(gap);
  const sorted = all.toSorted((a, b) => a - b);
  for (const share of [0, 0.05, 0.5, 0.95, 1]) {
    const exact = sorted[Math.max(0, Math.ceil(share * 999) - 1)]! / 1_000;
    expect(gaps.quantile(share)).toBe(exact < 60 ? exact : Math.floor(Math.min(exact, 86_399)));
  }
  for (const { from, to, count } of gaps.bins)
    expect(count).toBe(all.filter(gap => gap >= from * 1_000 && gap < (to ?? Number.POSITIVE_INFINITY) * 1_000).length);
});

test('a set of ids has what was added, once, and nothing else', () => {
  const ids = new IdSet();
  const added = new Set([1, 31, 32, 32_767, 32_768, 999_999, 123_456_789_012]);
  for (const id of [...added, ...added]) ids.add(`DEV-${id}`);
  for (const text of ['DEV-', 'dev-5', 'DEV-5x', `DEV-${'9'.repeat(16)}`, 7, null, undefined]) ids.add(text);
  expect(ids.size).toBe(added.size);
  for (const id of [0, 1, 2, 30, 31, 32, 33, 63, 64, 32_766, 32_767, 32_768, 32_769, 999_999, 123_456_789_012])
    expect([id, ids.has(`DEV-${id}`)]).toEqual([id, added.has(id)]);
});
