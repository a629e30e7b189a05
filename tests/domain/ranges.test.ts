import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasMatch, mayResume, rangeOf } from '../../daemon/http/ranges.ts';

describe('a range of a file of 100 bytes', () => {
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=99-1000', { start: 99, end: 99 }],
    [' bytes=0-0', 'whole'],
    ['BYTES=0-0', { start: 0, end: 0 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=99999999999999999999999-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=9-0', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=0-1,5-6', 'whole'],
    ['items=0-9', 'whole'],
    [undefined, 'whole'],
  ])('%j is %j', (header, expected) => {
    expect(rangeOf(header, 100)).toEqual(expected);
  });

  it('never reaches outside the file', () => {
    const bound = fc.oneof(fc.constant(''), fc.nat(300).map(String));
    fc.assert(
      fc.property(bound, bound, fc.integer({ min: 1, max: 200 }), (from, to, size) => {
        const range = rangeOf(`bytes=${from}-${to}`, size);
        if (typeof range === 'string') return;
        expect(range.start >= 0 && range.start <= range.end && range.end < size).toBe(true);
      }),
    );
  });
});

describe('conditional requests', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    [undefined, false],
  ])('If-None-Match %j of "a": %j', (header, expected) => {
    expect(hasMatch(header, '"a"')).toBe(expected);
  });

  it.each([
    [undefined, true],
    ['"a"', true],
    ['W/"a"', false],
    ['"b"', false],
    ['Wed, 21 Oct 2015 07:28:00 GMT', false],
  ])('If-Range %j of "a" lets a range continue: %j', (header, expected) => {
    expect(mayResume(header, '"a"')).toBe(expected);
  });
});
