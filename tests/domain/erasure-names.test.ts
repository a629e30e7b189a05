/** Names in the texts of others, such as notes and reasons, when a person is erased. */
import { expect, it } from 'vitest';
import { withoutNames } from '../../daemon/people/erasure-records.ts';

it.each([
  ['key of Ada Lovelace, spare', 'key of PER-7, spare'],
  ['ada lovelace', 'PER-7'],
  ['ADA LOVELACE and Ada Lovelace', 'PER-7 and PER-7'],
  ['adage', 'adage'],
  ['Canada Lovelace', 'Canada Lovelace'],
  ['ada.', 'PER-7.'],
  ['éada ada2 ada', 'éada ada2 PER-7'],
  ['İ ada', 'İ PER-7'],
  ['', ''],
  [null, null],
])('%j becomes %j', (text, left) => {
  expect(withoutNames(text, { names: ['Ada Lovelace', 'ada'], person: 7 })).toBe(left);
});
