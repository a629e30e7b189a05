/** Serial numbers that a spreadsheet has changed, and numbers of SIM cards. */
import { describe, expect, test } from 'vitest';
import { luhnDigit } from '../../drivers/protocols/iccid.ts';
import { cardNumber, formsOf, isCheckDigitRight } from '../../src/contract/iccid.ts';
import { damageOf, judgedSerial } from '../../src/tables/serial-values.ts';
import { mulberry } from '../support/mulberry.ts';

describe('a number that a spreadsheet has changed is refused with the reason', () => {
  test.each([
    ['8.986E+18', /scientific/],
    ['8,94944E+18', /scientific/],
    ['9E+14', /scientific/],
    ['1.5e18', /scientific/],
    ['8986012345669450000', /15 digits/],
    ['8949440000000000000', /15 digits/],
    ['12345678901234500', /15 digits/],
    ['12/03/2026', /date/],
    ['3.12.2026', /date/],
    ['2026-03-12', /date/],
    ['2026-03-12T09:41:00', /date/],
    ['12/03/2026 09:41', /date/],
    ['12-Mar-26', /date/],
    ['Mar-26', /date/],
    ['1-Mrz', /date/],
    ['20.470.001', /thousands/],
    ['20,470,001', /thousands/],
    ["20'470'001", /thousands/],
    ['20\u00a0470\u00a0001', /thousands/],
    ['20470001.0', /decimal/],
  ])('%s', (serial, words) => expect(damageOf(serial)).toMatch(words));

  test.each([
    ...[
      'UK-2026-000001',
      '20470001',
      '1234567890123450',
      '8949440000000001053',
      '12E5',
      '1E10',
      '000000000000000000000',
    ],
    ...['12-34-5678', '1.2.3', 'MAR-26', 'MAR-01', 'A.B.C', '1:2:3', '10-20', '00:11:22:33', '2026', 'FT2026K9000001'],
  ])('%s is taken', serial => expect(damageOf(serial)).toBeNull());
});

describe('the number of a SIM card', () => {
  const judge = (serial: string, more = {}) =>
    judgedSerial(serial, { deviceType: 'SIMKEY', column: '', hasSecrets: false, asIs: false, ...more });

  test('has one form with and without its filler', () => {
    for (const serial of ['8949440000000001012F', '8949440000000001012f', '8949440000000001012'])
      expect(judge(serial)).toEqual({ serial: '8949440000000001012' });
    expect(cardNumber('898600B5000000012CFF')).toBe('898600B5000000012C');
    expect(formsOf('8949440000000001012')).toEqual([
      '8949440000000001012',
      '8949440000000001012F',
      '8949440000000001012f',
    ]);
    expect(formsOf('8949440000000001012F')[0]).toBe('8949440000000001012F');
    for (const other of ['SIM-0001F', '20470001', '89F', '12345678901234567890'])
      expect(formsOf(other)).toEqual([other]);
  });

  test('of 19 digits has a right check digit, unless a person insists', () => {
    expect(judge('8949440000000001013')).toMatchObject({ problem: expect.stringContaining('check digit') });
    expect(judge('8949440000000001013', { asIs: true })).toEqual({ serial: '8949440000000001013' });
    expect(judge('8949440000000001013', { deviceType: 'UKEY' })).toEqual({ serial: '8949440000000001013' });
    expect(judge('8949440000000001013', { deviceType: 'UKEY', column: 'ICCID' })).toHaveProperty('problem');
    for (const serial of ['894944000000000101', '89494400000000010130', 'SIM-0001', '898600B5000000012CD'])
      expect(judge(serial)).toEqual({ serial });
  });

  test('is checked as the driver does, and for the digits after the leading 8', () => {
    const random = mulberry(20261129);
    for (let i = 0; i < 1000; i++) {
      const digits = `89${Array.from({ length: 16 }, () => Math.floor(random() * 10)).join('')}`;
      const right = luhnDigit(digits);
      const withoutEight = luhnDigit(digits.slice(1));
      for (let last = 0; last < 10; last++)
        expect(isCheckDigitRight(digits + last)).toBe([right, withoutEight].includes(String(last)));
    }
  });
});

test('32 hexadecimal digits beside secrets are a key, unless they are the number of an eSIM', () => {
  const judge = (serial: string, hasSecrets = true) =>
    judgedSerial(serial, { deviceType: 'UKEY', column: '', hasSecrets, asIs: true });
  expect(judge('000102030405060708090A0B0C0D0E0F')).toHaveProperty('problem');
  expect(judge('000102030405060708090A0B0C0D0E0F', false)).toHaveProperty('serial');
  expect(judge('89049032000001000000128417450912')).toEqual({ serial: '89049032000001000000128417450912' });
});
