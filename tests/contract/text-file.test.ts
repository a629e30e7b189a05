/** Bytes of files as spreadsheets write them, and what is read from them. */
import { describe, expect, test } from 'vitest';
import { encodingNamed, TextFileDecoder } from '../../src/contract/text-file.ts';

/** `a`, müller and möller on a line each. */
const windows = '610a6dfc6c6c65720a6df66c6c65720a';
const utf8 = '610a6dc3bc6c6c65720a6dc3b66c6c65720a';
const little = '61000a006d00fc006c006c00650072000a006d00f6006c006c00650072000a00';
const big = '0061000a006d00fc006c006c00650072000a006d00f6006c006c00650072000a';
const text = 'a\nm\u00fcller\nm\u00f6ller\n';

/** Decodes the bytes in chunks of `size`. */
function read(hex: string, named: string | null, size: number) {
  const bytes = Buffer.from(hex, 'hex');
  const decoder = new TextFileDecoder(named);
  let found = '';
  for (let at = 0; at < bytes.length; at += size) found += decoder.decode(bytes.subarray(at, at + size));
  found += decoder.end();
  return { text: found, line: decoder.invalidLine, encoding: decoder.encoding };
}

describe.each([1, 2, 3, 5, 1_000])('a file that arrives in chunks of %i bytes', size => {
  test.each([
    ['UTF-8', utf8, null, 'utf-8'],
    ['UTF-8 with a mark', `efbbbf${utf8}`, null, 'utf-8'],
    ['UTF-16LE with a mark', `fffe${little}`, null, 'utf-16le'],
    ['UTF-16BE with a mark', `feff${big}`, null, 'utf-16be'],
    ['windows-1252, as named', windows, 'windows-1252', 'windows-1252'],
    ['UTF-16LE, as named', little, 'utf-16le', 'utf-16le'],
    ['UTF-8 with a mark and another name: the mark decides', `efbbbf${utf8}`, 'windows-1252', 'utf-8'],
  ])('is read as %s', (_, hex, named, encoding) => {
    expect(read(hex, named, size)).toEqual({ text, line: null, encoding });
  });

  test.each([
    ['UTF-8', 'utf8', ''],
    ['UTF-16LE', 'utf16le', '\ufeff'],
  ] as const)('in %s has line feeds, whatever ends its lines', (_, encoding, mark) => {
    const hex = Buffer.from(`${mark}a\r\nb\rc\n\r\n\r\rd\r`, encoding).toString('hex');
    expect(read(hex, null, size)).toMatchObject({ text: 'a\nb\nc\n\n\n\nd\n', line: null });
    expect(read(`610d620d0a${'ff'}0d`, null, size).line).toBe(3);
  });

  test.each([
    ['windows-1252', windows, 2],
    ['both encodings', `${utf8}${windows}`, 5],
    ['a mark of UTF-8, and windows-1252', `efbbbf${windows}`, 2],
    ['a character that is cut off at the end', '610a620a63c3', 3],
    ['half a character of UTF-16 at the end', `fffe${little}61`, 4],
    ['half a surrogate of UTF-16', 'fffe61000a003dd80a006200', 2],
    ['a character that was lost earlier', '610aefbfbd0a', 2],
    ['one byte', 'fc', 1],
  ])('is not valid with %s', (_, hex, line) => {
    expect(read(hex, null, size).line).toBe(line);
  });

  test.each([
    ['', ''],
    ['61', 'a'],
    ['efbbbf', ''],
    ['fffe', ''],
  ])('may be short: %s', (hex, short) => {
    expect(read(hex, null, size)).toMatchObject({ text: short, line: null });
  });
});

test.each([
  ['windows-1252', 'windows-1252'],
  ['CP1252', 'windows-1252'],
  ['latin1', 'windows-1252'],
  ['UTF8', 'utf-8'],
  ['Shift_JIS', 'shift_jis'],
  ['cp850', null],
  ['utf-7', null],
  ['', null],
])('the label %s names %s', (label, name) => {
  expect(encodingNamed(label)).toBe(name);
});
