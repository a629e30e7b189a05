import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { registration, updateDevice } from '../../src/contract/devices.ts';
import { routes } from '../../src/contract/routes.ts';
import { textLength, trimText } from '../../src/contract/text.ts';
import { compileReader } from '../../src/contract/validate.ts';

const read = compileReader(registration);
const good = { deviceType: 'UKEY', serialNumber: 'A-1', manufacturer: 'Feitian', model: 'K9' };
const messageOf = (body: unknown): string => {
  const outcome = read(body);
  return outcome.ok ? '' : outcome.message;
};

describe('reading a body', () => {
  test('a missing, null or empty required text is named as required', () => {
    for (const value of [undefined, null, '', '   ', '\t\n'])
      expect(messageOf({ ...good, model: value })).toBe('model is required');
  });
  test('a number is not taken for a text', () => {
    expect(messageOf({ ...good, serialNumber: 5 })).toBe('serialNumber must be a string');
  });
  test('texts are trimmed before they are measured', () => {
    const outcome = read({ ...good, model: ` ${'m'.repeat(200)}\n` });
    expect(outcome.ok && outcome.value.model).toBe('m'.repeat(200));
    expect(messageOf({ ...good, model: 'm'.repeat(201) })).toBe('model is longer than 200 characters');
  });
  test('length counts characters, not code units', () => {
    expect(read({ ...good, model: '🔑'.repeat(200) }).ok).toBe(true);
    expect(read({ ...good, model: '🔑'.repeat(201) }).ok).toBe(false);
  });
  test('an empty optional text is null, an absent one is absent', () => {
    const outcome = read({ ...good, hardwareVersion: ' ' });
    expect(outcome).toMatchObject({ ok: true, value: { hardwareVersion: null } });
    expect(outcome.ok && Object.hasOwn(outcome.value, 'firmwareVersion')).toBe(false);
  });
  test('controls, invisible and direction-changing characters are refused, at the ends too', () => {
    const refused = [
      '\u0000',
      '\u001b',
      '\u007f',
      '\u0085',
      '\u009f',
      '\u200b',
      '\u2060',
      '\ufeff',
      '\u202a',
      '\u202e',
      '\u2066',
      '\u2069',
    ];
    for (const character of refused) {
      expect(messageOf({ ...good, model: `a${character}b` }), character).toMatch(/^model holds/);
      expect(messageOf({ ...good, model: `${character}b` }), character).toMatch(/^model holds/);
    }
  });
  test('joiners are good', () => {
    expect(read({ ...good, model: 'a\u200cb\u200dc' }).ok).toBe(true);
  });
  test('line breaks and tabs are good in a note alone', () => {
    const readUpdate = compileReader(updateDevice.body);
    expect(readUpdate({ note: 'a\r\n\tb' }).ok).toBe(true);
    expect(readUpdate({ firmwareVersion: 'a\nb' }).ok).toBe(false);
    expect(readUpdate({ note: 'a\u001b[2Jb' }).ok).toBe(false);
  });
  test('a serial has no other characters than ASCII letters, digits and - _ . : /', () => {
    expect(read({ ...good, serialNumber: 'aZ09-_.:/' }).ok).toBe(true);
    for (const serial of ['a b', 'ä', 'a%', 'a\\b', 'a;b'])
      expect(read({ ...good, serialNumber: serial }).ok, serial).toBe(false);
  });
  test('half of a surrogate pair is refused', () => {
    expect(messageOf({ ...good, model: '\ud83d' })).toBe('model holds half of a surrogate pair');
  });
  test('unknown fields are dropped', () => {
    expect(read({ ...good, extra: 1 })).toEqual({ ok: true, value: good });
  });
  test('what is no object is refused', () => {
    for (const body of [[], 'x', 1, null, true]) expect(read(body).ok).toBe(false);
  });
});

describe('reading a query', () => {
  const readList = compileReader(routes.listDevices.query, 'text');
  test('numbers are read as what they stand for', () => {
    expect(readList({ page: '2', size: '100' })).toMatchObject({ ok: true, value: { page: 2, size: 100 } });
    for (const page of ['0', '-1', '1.5', '1e2', 'x', ' 1', '9'.repeat(20)])
      expect(readList({ page }).ok, page).toBe(false);
  });
  test('size wins over pageSize, which is another name of it', () => {
    expect(readList({ pageSize: '7' })).toMatchObject({ ok: true, value: { size: 7 } });
    expect(readList({ pageSize: '7', size: '8' })).toMatchObject({ ok: true, value: { size: 8 } });
    expect(readList({ pageSize: '101' })).toMatchObject({
      ok: false,
      message: 'pageSize must be a whole number from 1 to 100',
    });
    expect(readList({})).toMatchObject({ ok: true, value: { page: 1, size: 20 } });
  });
  test('a parameter given twice is refused, an empty one is as if it were not there', () => {
    expect(readList({ status: ['ACTIVE', 'LOCKED'] }).ok).toBe(false);
    expect(readList({ status: '', page: '' })).toMatchObject({ ok: true, value: { page: 1 } });
  });
});

test('reading never throws and answers a value that reads the same again', () => {
  const field = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.constantFrom('UKEY', 'SIMKEY'));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(registration.properties), 'x'), field), body => {
      const outcome = read(body);
      if (outcome.ok) expect(read(outcome.value)).toEqual(outcome);
      else expect(outcome.message).not.toBe('');
    }),
    { numRuns: 5000 },
  );
});

test('a schema without bounds asks for none', () => {
  const readAny = compileReader(Type.Object({ n: Type.Integer(), b: Type.Boolean() }));
  expect(readAny({ n: -5, b: false })).toEqual({ ok: true, value: { n: -5, b: false } });
  expect(readAny({ n: 1.5, b: false })).toMatchObject({ ok: false, field: 'n' });
  expect(readAny({ n: 1, b: 'true' })).toMatchObject({ ok: false, field: 'b' });
});

test('length in characters is that of the code points', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => textLength(text) === [...text].length));
  expect(trimText('\ufeffa')).toBe('\ufeffa');
});
