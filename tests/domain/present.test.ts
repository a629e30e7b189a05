import fc from 'fast-check';
import { expect, test } from 'vitest';
import { iso } from '../../daemon/services/present.ts';

/** The first and the last moment that a Date knows. */
const furthest = 8_640_000_000_000_000;

test('a time reads as Date writes it', () => {
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
])('the edge %d reads as Date writes it', at => {
  expect(iso(at)).toBe(new Date(at).toISOString());
});

test('what Date refuses is refused', () => {
  for (const at of [Number.NaN, furthest + 86_400_000, Number.POSITIVE_INFINITY])
    expect(() => iso(at)).toThrow(RangeError);
});
