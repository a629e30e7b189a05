/** The exit code of every business code: scripts rely on them. Written by hand, to check the table of the program. */
import { expect, test } from 'vitest';
import { exitOfCode } from '../../src/cli/exit-codes.ts';
import { codes } from '../../src/contract/codes.ts';

const promised: Readonly<Record<number, readonly number[]>> = {
  1: [416, 500, 3002, 4002],
  2: [1001],
  3: [1002, 1003, 1004, 1005],
  4: [2007],
  5: [404, 2001, 3001, 4001],
  6: [2002, 2003, 2004, 2005, 2006, 412],
  8: [429],
};
const pairs = Object.entries(promised).flatMap(([exit, list]) => list.map(code => [code, Number(exit)] as const));

test.each(pairs)('%d ends with %d', (code, exit) => {
  expect(exitOfCode(code)).toBe(exit);
});

test('every code of the interface is checked', () => {
  expect(pairs.map(([code]) => code).sort()).toEqual(Object.keys(codes).map(Number).sort());
});

test.each([
  [400, 2],
  [401, 3],
  [403, 4],
  [8007, 1],
])('%d, which a server may send in the place of those, ends with %d', (code, exit) => {
  expect(exitOfCode(code)).toBe(exit);
});
