import { describe, expect, test } from 'vitest';
import { cleanText } from '../../drivers/text.ts';

describe('cleaned text from devices', () => {
  test.each([
    ['terminal colors and bells', '\u001b[31mred\u0007', '[31mred'],
    ['8-bit control characters', 'a\u009bb', 'ab'],
    ['marks that change the writing direction', 'abc\u202egpj.exe\u2066', 'abcgpj.exe'],
    ['zero-width characters', 'Fei\u200btian\ufeff\u2060\u00ad', 'Feitian'],
    ['invisible fillers', 'A\u3164B\u115f\uffa0\u1160', 'AB'],
    ['tags, assigned or not', 'A\u{e0000}B\u{e0041}\u{e007f}', 'AB'],
    ['lone surrogates', 'a\ud800b', 'ab'],
    ['line ends and repeated white space', '  Bank\r\n\tkey  \u2028v2 ', 'Bank key v2'],
  ])('does not contain %s', (_what, given, clean) => {
    expect(cleanText(given)).toBe(clean);
  });

  test.each(['银行 UKey', 'Clé №3 – Æ', 'ключ'])('contains the letters of every script: %s', text => {
    expect(cleanText(text)).toBe(text);
  });

  test.each([null, undefined, '', '  ', '\u200b\u0000'])('is null if nothing is left of %j', text => {
    expect(cleanText(text)).toBeNull();
  });
});
