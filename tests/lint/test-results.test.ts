import { expect, it } from 'vitest';
import { listOf, resultsOf } from '../../scripts/lib/test-results.mjs';

const assertion = (status: string, title: string) => ({ status, title, ancestorTitles: ['a device'] });

it('counts what passed, and names what failed and what was skipped with its file', () => {
  const assertionResults = [
    assertion('passed', 'is listed'),
    assertion('failed', 'is locked'),
    assertion('pending', 'is retired'),
  ];
  const report = { testResults: [{ name: '/project/tests/a.test.ts', status: 'failed', assertionResults }] };
  expect(resultsOf(report, '/project')).toEqual({
    passed: 1,
    failed: ['tests/a.test.ts > a device > is locked'],
    repeated: [],
    skipped: ['tests/a.test.ts > a device > is retired'],
  });
});

it('gives the reason of each attempt of a failed test in one line', () => {
  const failureMessages = ['Error: two\n  lines\n    at tests/a.test.ts:1:2', `Error: ${'x'.repeat(600)}`];
  const assertionResults = [{ ...assertion('failed', 'is locked'), failureMessages }];
  const report = { testResults: [{ name: '/project/tests/a.test.ts', status: 'failed', assertionResults }] };
  expect(resultsOf(report, '/project').failed).toEqual([
    `tests/a.test.ts > a device > is locked\n    Error: two lines\n    Error: ${'x'.repeat(493)}`,
  ]);
});

it('counts a test that passed in its second attempt, and gives the reason of the first', () => {
  const assertionResults = [{ ...assertion('passed', 'is locked'), failureMessages: ['Error: too late'] }];
  const report = { testResults: [{ name: '/project/tests/a.test.ts', status: 'passed', assertionResults }] };
  expect(resultsOf(report, '/project')).toMatchObject({
    passed: 1,
    failed: [],
    repeated: ['tests/a.test.ts > a device > is locked\n    Error: too late'],
  });
});

it('names a file that could not be loaded, with the first line of the reason', () => {
  const message = "Cannot find module './b.ts'\n  at load";
  const report = {
    testResults: [{ name: '/project/tests/a.test.ts', status: 'failed', message, assertionResults: [] }],
  };
  expect(resultsOf(report, '/project').failed).toEqual(["tests/a.test.ts: Cannot find module './b.ts'"]);
});

it('lists a limited number of names', () => {
  expect(listOf('FAILED', ['a', 'b', 'c'], 2)).toBe('FAILED: a\nFAILED: b\nFAILED: and 1 more\n');
  expect(listOf('FAILED', [])).toBe('');
});
