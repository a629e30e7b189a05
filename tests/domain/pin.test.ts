import { expect, it } from 'vitest';
import { pinDocument, pinIn, sealedPins } from '../../daemon/issuing/pin.ts';

it.each([
  ['several', ['b', 'c'], ['a', 'b', 'c']],
  ['one, as early versions stored it', 'b', ['a', 'b']],
  ['none, as early versions stored it', null, ['a']],
])('reads a sealed PIN with %s before it', (_, earlier, expected) => {
  const value = JSON.stringify({ sealed: 'a', storedAt: 1, openedAt: null, earlier });
  expect(sealedPins(pinIn({ name: pinDocument(1), version: 1, value })!)).toEqual(expected);
});

it('reads no PIN in the document of a device that was deactivated', () => {
  expect(pinIn({ name: pinDocument(1), version: 2, value: 'null' })).toBeNull();
  expect(pinIn(null)).toBeNull();
});
