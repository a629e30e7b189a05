import { describe, expect, test } from 'vitest';
import { cleanText } from '../../drivers/text.ts';

describe('texts from devices', () => {
  test.each([
    ['colours and bells of the terminal', '\u001b[31mred\u0007', '[31mred'],
    ['8-bit control characters', 'a\u009bb', 'ab'],
    ['marks that turn the writing direction', 'abc\u202egpj.exe\u2066', 'abcgpj.exe'],
    ['characters of no width', 'Fei\u200btian\ufeff\u2060\u00ad', 'Feitian'],
    ['fillers that show as nothing', 'A\u3164B\u115f', 'AB'],
    ['lone surrogates', 'a\ud800b', 'ab'],
    ['line ends and runs of white space', '  Bank\r\n\tkey  \u2028v2 ', 'Bank key v2'],
  ])('lose %s', (_what, given, clean) => {
    expect(cleanText(given)).toBe(clean);
  });

  test.each(['银行 UKey', 'Clé №3 – Æ', 'ключ'])('keep letters of every script: %s', text => {
    expect(cleanText(text)).toBe(text);
  });

  test.each([null, undefined, '', '  ', '\u200b\u0000'])('are null where nothing is left of %j', text => {
    expect(cleanText(text)).toBeNull();
  });
});
