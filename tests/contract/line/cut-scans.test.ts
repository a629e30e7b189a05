/** `npm run fuzz` tries more of them. */
import { expect, test } from 'vitest';
import { tryScans } from '../../fuzz/scans.ts';

test('whatever is cut, a key goes to the person whose badge was scanned last, or to none, and no scan is lost silently', () => {
  expect(tryScans({ seed: Date.now() % 1_000_000_000, count: 3000 })).toEqual([]);
});
