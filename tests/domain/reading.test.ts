import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { deviceOperations, registration } from '../../src/contract/devices.ts';
import { line, NAMES, oneOf } from '../../src/contract/fields.ts';
import { routes } from '../../src/contract/routes.ts';
import { textLength, trimText } from '../../src/contract/text.ts';
import { compileReader } from '../../src/contract/validate.ts';

const read = compileReader(registration);
const valid = { deviceType: 'UKEY', serialNumber: 'A-1', manufacturer: 'Feitian', model: 'K9' };
const messageOf = (body: unknown): string => {
  const outcome = read(body);
  return outcome.ok ? '' : outcome.message;
};

describe('reading a body', () => {
  test('names a required text that is missing, null or empty', () => {
    for (const value of [undefined, null, '', '   ', '\t\n'])
      expect(messageOf({ ...valid, model: value })).toBe('model is required');
  });
  test('rejects a number where a text is expected', () => {
    expect(messageOf({ ...valid, serialNumber: 5 })).toBe('serialNumber must be a string');
  });
  test('trims a text before it measures it', () => {
    const outcome = read({ ...valid, model: ` ${'m'.repeat(200)}\n` });
    expect(outcome.ok && outcome.value.model).toBe('m'.repeat(200));
    expect(messageOf({ ...valid, model: 'm'.repeat(201) })).toBe('model is longer than 200 characters');
  });
  test('measures a text in characters, not in code units', () => {
    expect(read({ ...valid, model: '🔑'.repeat(200) }).ok).toBe(true);
    expect(read({ ...valid, model: '🔑'.repeat(201) }).ok).toBe(false);
  });
  test('reads an empty optional text as null and leaves an absent one out', () => {
    const outcome = read({ ...valid, hardwareVersion: ' ' });
    expect(outcome).toMatchObject({ ok: true, value: { hardwareVersion: null } });
    expect(outcome.ok && Object.hasOwn(outcome.value, 'firmwareVersion')).toBe(false);
  });
  test('rejects control, invisible and direction-changing characters, also at the ends', () => {
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
      '\u00ad',
      '\u061c',
      '\u115f',
      '\u1160',
      '\u200e',
      '\u200f',
      '\u3164',
      '\uffa0',
      '\u{e0000}',
      '\u{e0041}',
      '\u{e007f}',
    ];
    for (const character of refused) {
      expect(messageOf({ ...valid, model: `a${character}b` }), character).toMatch(/^model contains/);
      expect(messageOf({ ...valid, model: `${character}b` }), character).toMatch(/^model contains/);
    }
  });
  test('accepts the joiners', () => {
    expect(read({ ...valid, model: 'a\u200cb\u200dc' }).ok).toBe(true);
  });
  test('accepts line breaks and tabs in a note only', () => {
    const readUpdate = compileReader(deviceOperations.updateDevice.body);
    expect(readUpdate({ note: 'a\r\n\tb' }).ok).toBe(true);
    expect(readUpdate({ firmwareVersion: 'a\nb' }).ok).toBe(false);
    expect(readUpdate({ note: 'a\u001b[2Jb' }).ok).toBe(false);
  });
  test('accepts only ASCII letters, digits and - _ . : / in a serial number', () => {
    expect(read({ ...valid, serialNumber: 'aZ09-_.:/' }).ok).toBe(true);
    for (const serial of ['a b', 'ä', 'a%', 'a\\b', 'a;b'])
      expect(read({ ...valid, serialNumber: serial }).ok, serial).toBe(false);
  });
  test('rejects an unpaired surrogate', () => {
    expect(messageOf({ ...valid, model: '\ud83d' })).toBe('model contains an unpaired surrogate');
  });
  test('drops unknown fields', () => {
    expect(read({ ...valid, extra: 1 })).toEqual({ ok: true, value: valid });
  });
  test('rejects a body that is not an object', () => {
    for (const body of [[], 'x', 1, null, true]) expect(read(body).ok).toBe(false);
  });
});

describe('reading a query', () => {
  const readList = compileReader(routes.listDevices.query, 'text');
  test('converts numbers', () => {
    expect(readList({ page: '2', size: '100' })).toMatchObject({ ok: true, value: { page: 2, size: 100 } });
    for (const page of ['0', '-1', '1.5', '1e2', 'x', ' 1', '9'.repeat(20)])
      expect(readList({ page }).ok, page).toBe(false);
  });
  test('accepts pageSize as another name of size, which takes precedence', () => {
    expect(readList({ pageSize: '7' })).toMatchObject({ ok: true, value: { size: 7 } });
    expect(readList({ pageSize: '7', size: '8' })).toMatchObject({ ok: true, value: { size: 8 } });
    expect(readList({ pageSize: '101' })).toMatchObject({
      ok: false,
      message: 'pageSize must be a whole number from 1 to 100',
    });
    expect(readList({})).toMatchObject({ ok: true, value: { page: 1, size: 20 } });
  });
  test('rejects a parameter that is given twice and ignores an empty one', () => {
    expect(readList({ status: ['ACTIVE', 'LOCKED'] }).ok).toBe(false);
    expect(readList({ status: '', page: '' })).toMatchObject({ ok: true, value: { page: 1 } });
  });
});

describe('reading nested values', () => {
  const method = (name: string) => oneOf([name] as const);
  const readNested = compileReader(
    Type.Object({
      words: Type.Optional(Type.Array(line(5), { maxItems: 2 })),
      inner: Type.Optional(Type.Object({ sizes: Type.Array(Type.Integer({ minimum: 1 })) })),
      either: Type.Optional(
        Type.Union([
          Type.Object({ method: method('a'), text: line(5) }),
          Type.Object({ method: method('b'), count: Type.Integer() }),
        ]),
      ),
      flags: Type.Optional(
        Type.Unsafe<Record<string, boolean>>({
          type: 'object',
          maxProperties: 1,
          additionalProperties: { type: 'boolean' },
          [NAMES]: 3,
        }),
      ),
    }),
  );
  const faultOf = (body: unknown) => {
    const outcome = readNested(body);
    return outcome.ok ? null : { field: outcome.field, message: outcome.message };
  };

  test('returns them trimmed, without unknown members', () => {
    const body = {
      words: [' one ', 'two'],
      inner: { sizes: [1, 2], other: 1 },
      either: { method: 'b', count: 3, text: 'x' },
    };
    const value = { words: ['one', 'two'], inner: { sizes: [1, 2] }, either: { method: 'b', count: 3 } };
    expect(readNested({ ...body, flags: { rk: true } })).toEqual({
      ok: true,
      value: { ...value, flags: { rk: true } },
    });
  });
  test.each([
    [{ words: 'one' }, 'words', 'words must be an array'],
    [{ words: ['a', 'b', 'c'] }, 'words', 'words must have 0 to 2 items'],
    [{ words: ['one', 'longer'] }, 'words[1]', 'words[1] is longer than 5 characters'],
    [{ words: [' '] }, 'words[0]', 'words[0] must not be empty'],
    [{ words: [null] }, 'words[0]', 'words[0] must be a string'],
    [{ inner: [] }, 'inner', 'inner must be a JSON object'],
    [{ inner: {} }, 'inner.sizes', 'inner.sizes is required'],
    [{ inner: { sizes: [1, 0] } }, 'inner.sizes[1]', 'inner.sizes[1] must be a whole number of at least 1'],
    [{ either: {} }, 'either.method', 'either.method must be one of a, b'],
    [{ either: { method: 'b' } }, 'either.count', 'either.count is required'],
    [{ either: 'a' }, 'either', 'either must be a JSON object'],
    [{ flags: { rk: true, up: true } }, 'flags', 'flags must be an object of at most 1 values'],
    [{ flags: { rk: 'yes' } }, 'flags', 'flags has a value of another type'],
    [{ flags: { long: true } }, 'flags', 'flags has a name that is longer than 3 characters'],
  ])('names what is wrong in %j', (body, field, message) => {
    expect(faultOf(body)).toEqual({ field, message });
  });
});

describe('compiling a schema', () => {
  const compile = (field: TSchema) => () => compileReader(Type.Object({ field }));
  test.each([
    ['a keyword that is not implemented', Type.Integer({ multipleOf: 2 }), /^field: .*multipleOf/],
    ['a keyword of another type', Type.String({ minimum: 1 }), /^field: .*minimum/],
    ['a format', Type.String({ format: 'date-time' }), /^field: .*format/],
    [
      'a keyword inside a union with null',
      Type.Union([Type.String({ format: 'uri' }), Type.Null()]),
      /^field: .*format/,
    ],
    ['an unknown extension keyword', Type.String({ 'x-lower': true }), /^field: .*x-lower/],
    ['a type that is not implemented', Type.Number(), /^field: .*number/],
    ['a keyword inside a nested object', Type.Object({ inner: Type.Number() }), /^inner: .*number/],
    ['an object with any members', Type.Unsafe({ type: 'object', additionalProperties: true }), /^field: .*additional/],
    ['null alone', Type.Null(), /^field: .*null/],
    ['a schema without a type', Type.Unknown(), /^field: /],
    ['a union of two types', Type.Union([Type.String(), Type.Integer()]), /^field: .*union/],
    [
      'a union of objects that nothing distinguishes',
      Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
      /^field: .*union/,
    ],
    ['an array without a schema of its items', Type.Unsafe({ type: 'array' }), /^field: .*items/],
    ['an array of items that are not validated', Type.Array(Type.Number()), /^field\[\]: .*number/],
  ])('fails for %s', (_, field, message) => {
    expect(compile(field)).toThrow(message);
  });
  test('fails for a keyword of the whole object', () => {
    expect(() => compileReader(Type.Object({}, { additionalProperties: false }))).toThrow(/additionalProperties/);
  });
});

test('never throws, and returns a value that reads the same again', () => {
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

test('checks no bounds that the schema does not state', () => {
  const readAny = compileReader(Type.Object({ n: Type.Integer(), b: Type.Boolean() }));
  expect(readAny({ n: -5, b: false })).toEqual({ ok: true, value: { n: -5, b: false } });
  expect(readAny({ n: 1.5, b: false })).toMatchObject({ ok: false, field: 'n' });
  expect(readAny({ n: 1, b: 'true' })).toMatchObject({ ok: false, field: 'b' });
});

test('counts the characters of any text by code point', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => textLength(text) === [...text].length));
  expect(trimText('\ufeffa')).toBe('\ufeffa');
});
