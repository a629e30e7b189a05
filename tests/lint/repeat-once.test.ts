import { expect, it } from 'vitest';
import { type Counts, repeatOnce, sumOf } from '../../scripts/lib/repeat-once.ts';

const good: Counts = { passed: 3, failed: [], skipped: [] };
const bad: Counts = { passed: 2, failed: ['a test'], skipped: [] };

/** Runs a check with these results, one after the other. */
async function repeated(...results: Counts[]) {
  const lines: string[] = [];
  let runs = 0;
  const counts = await repeatOnce(
    'a check',
    async () => results[runs++]!,
    line => lines.push(line),
  );
  return { counts, lines, runs };
}

it('a check that passes runs once', async () => {
  expect(await repeated(good, bad)).toEqual({ counts: good, lines: ['a check: passed'], runs: 1 });
});

it('of a check that fails once, the second result counts, and both are printed', async () => {
  expect(await repeated(bad, good)).toEqual({
    counts: good,
    lines: [
      'a check: FAILED the first time (a test); it runs once more',
      'a check: FAILED the first time, passed the second time',
    ],
    runs: 2,
  });
});

it('a check that fails twice has failed', async () => {
  const { counts, lines, runs } = await repeated(bad, bad, good);
  expect({ counts, runs }).toEqual({ counts: bad, runs: 2 });
  expect(lines.at(-1)).toBe('a check: FAILED the first time, FAILED the second time');
});

it('the sum counts what passed, failed and was skipped in all checks', () => {
  expect(sumOf([good, bad, { passed: 0, failed: ['b', 'c'], skipped: ['d'] }])).toBe('5 passed, 3 failed, 1 skipped');
});

it('the sum of no checks is zero', () => {
  expect(sumOf([])).toBe('0 passed, 0 failed, 0 skipped');
});
