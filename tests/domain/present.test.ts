import fc from 'fast-check';
import { expect, test } from 'vitest';
import { iso } from '../../daemon/base/time.ts';

/** Distance of the first and the last time of Date from 1970. */
const furthest = 8_640_000_000_000_000;

test('a time has the same text as toISOString', () => {
  fc.assert(
    fc.property(fc.integer({ min: -furthest, max: furthest }), at => {
      expect(iso(at)).toBe(new Date(at).toISOString());
    }),
    { numRuns: 20_000 },
  );
});

test.each([
  0,
  -1,
  1,
  999,
  1000,
  59_999,
  86_399_999,
  86_400_000,
  951_782_399_999,
  951_782_400_000,
  253_402_300_799_999,
  253_402_300_800_000,
  -62_167_219_200_001,
  furthest,
  -furthest,
])('the edge case %d has the same text as toISOString', at => {
  expect(iso(at)).toBe(new Date(at).toISOString());
});

test('times outside the range of Date throw RangeError', () => {
  for (const at of [Number.NaN, furthest + 86_400_000, Number.POSITIVE_INFINITY])
    expect(() => iso(at)).toThrow(RangeError);
});
