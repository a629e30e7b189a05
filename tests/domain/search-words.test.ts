import fc from 'fast-check';
import { expect, test } from 'vitest';
import { searchWords } from '../../src/contract/search-words.ts';

const words = (text: string) =>
  searchWords(text).map(({ text, in: fields }) => [text, fields.length > 2 ? '' : fields.join()]);

test.each<[string, readonly (readonly [string, string])[]]>([
  ['Nitrokey', [['nitrokey', '']]],
  [
    '  YubiKey   5C ',
    [
      ['yubikey', ''],
      ['5c', ''],
    ],
  ],
  [
    '"YubiKey 5C" x',
    [
      ['yubikey 5c', ''],
      ['x', ''],
    ],
  ],
  ['"no end', [['no end', '']]],
  ['site:Bonn', [['site:bonn', '']]],
  ['tag:site:Bonn', [['site:bonn', 'tag']]],
  [
    'MAKER:"Yubico AB" model:5 person:ada',
    [
      ['yubico ab', 'maker'],
      ['5', 'model'],
      ['ada', 'user,name'],
    ],
  ],
  ['maker: ada', [['ada', '']]],
  ['maker:', []],
  ['"" " " tag:""', []],
  ['a"b', [['a"b', '']]],
  ['E\u0301', [['\u00e9', '']]],
  ['', []],
])('the words of %j', (text, expected) => {
  expect(words(text)).toEqual(expected);
});

test('any text has words, each without white space at its ends', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom('"', ' ', 'tag:', 'a', ':') })),
      text => {
        for (const word of searchWords(text)) expect(word.text).toBe(word.text.trim() || null);
      },
    ),
  );
});
