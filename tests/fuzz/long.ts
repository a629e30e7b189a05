/**
 * Long repetitive texts in every place of the contract that takes a text: what finds code that looks at a text again for each
 * of its characters. A run of one short unit, or two runs with something between them, and something else at the end.
 */
import fc from 'fast-check';
import type { RouteShape } from '../../src/contract/define.ts';
import { inputExample } from '../../src/contract/openapi/examples.ts';
import { TOKEN } from './headers.ts';
import { boundary } from './values.ts';

/** Most characters of a text: in a body or form, and in a path, a query or a header, where Node takes 16 KiB in all. */
export interface Lengths {
  readonly body: number;
  readonly head: number;
}
export const usualLengths: Lengths = { body: 100_000, head: 15_000 };

export interface LongMessage {
  readonly method: string;
  readonly path: string;
  readonly lines: readonly string[];
  readonly body: Buffer;
}

const inAscii = [
  { weight: 4, arbitrary: fc.constantFrom(' ', '\t') },
  { weight: 3, arbitrary: fc.constantFrom('1', '0', '1.', '0:', '9,', '1-') },
  { weight: 2, arbitrary: fc.constantFrom(...'.-,;:/=+%&?#@~*_|\\"\'`()[]{}<>') },
  { weight: 1, arbitrary: fc.constantFrom('a', 'A-', 'DEV-', 'eyJ') },
];
const beyond = [
  { weight: 3, arbitrary: fc.constantFrom('\u00a0', '\u2003', '\u3000', '\ufeff', '\r\n') },
  { weight: 2, arbitrary: fc.constantFrom('é', 'e\u0301', '\u0301', '\u200d', '🔑', '\ud800', '\udc00') },
  // The beginning of the end of a part, over and over.
  {
    weight: 1,
    arbitrary: fc.constantFrom(`\r\n--${boundary.slice(0, -1)}`, `--${boundary}`, `${boundary}-`),
  },
];
const edge = fc.constantFrom('', 'a', '1', ' ', '"', '.', '-', '🔑', '\u0000');
/** A header is of ASCII; it has its own beginning. */
const header = { units: fc.oneof(...inAscii), edge: fc.constant('') };
const anywhere = { units: fc.oneof(...inAscii, ...beyond), edge };

function longText(most: number, { units, edge: first } = anywhere): fc.Arbitrary<string> {
  // Half of them are as long as they can be: what takes time by the square shows there.
  const length = fc.oneof(
    fc.constant(most),
    fc.double({ min: 0, max: 1, noNaN: true }).map(share => Math.round(64 * (most / 64) ** share)),
  );
  return fc
    .record({ first, unit: units, middle: fc.constantFrom('', '', '-', ',', '.', ':', 'x', '1'), last: edge, length })
    .map(({ first, unit, middle, last, length }) => {
      const times = Math.ceil(length / unit.length);
      const runs = middle === '' ? unit.repeat(times) : unit.repeat(times / 2) + middle + unit.repeat(times / 2);
      return first + runs.slice(0, length) + last;
    });
}

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
};
type Place = readonly (string | number)[];

/** The paths of the values that a schema describes; of an array, those of its first item; of tags, all and one. */
function placesIn(schema: Schema, at: Place = []): Place[] {
  const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  if (inner.type === 'array') return inner.items ? placesIn(inner.items, [...at, 0]) : [at];
  if (typeof inner.additionalProperties === 'object') return [at, [...at, 'lot']];
  if (!inner.properties) return at.length > 0 ? [at] : [];
  return Object.entries(inner.properties).flatMap(([name, field]) => placesIn(field, [...at, name]));
}

function withValue(value: unknown, [step, ...rest]: Place, put: unknown): unknown {
  if (step === undefined) return put;
  const inner = (value as Record<string | number, unknown> | undefined)?.[step];
  const changed = withValue(inner, rest, put);
  if (typeof step === 'number') return [changed, ...((value as unknown[] | undefined) ?? []).slice(1)];
  return { ...(value as object | undefined), [step]: changed };
}

const MARK = 'the long value';
/** A text as it is in JSON, and now and then as something that is not a text: a number, white space, a name. */
const writings: readonly ((text: string) => string)[] = [
  ...Array.from({ length: 6 }, () => (text: string) => JSON.stringify(text)),
  text => text,
  text => `{${JSON.stringify(text)}:1}`,
];

/** A password of a good length would be hashed, and might become that of the sender: these are too long. */
const textFor = (place: Place, most: number): fc.Arbitrary<string> =>
  /password/i.test(String(place.at(-1))) ? longText(most).map(text => text.padEnd(2000, 'x')) : longText(most);

/** For requests that are tried elsewhere than in their body: a hash would only take time. */
const withoutPasswords = (body: object, names = /password/i): object =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, names.test(name) ? '' : value]));
/** Passwords that are checked, which are the last fields of a body: the others are read before these are refused. */
const checked = /^(confirm|old)Password$/;

function bodies(shape: RouteShape, most: number): fc.Arbitrary<Buffer>[] {
  const example = {
    ...withoutPasswords(inputExample(shape), checked),
    ...(shape.id === 'login' ? { username: 'no-such-user' } : {}),
  };
  return placesIn(shape.body as Schema).map(place =>
    fc.tuple(textFor(place, most), fc.constantFrom(...writings)).map(([text, written]) => {
      const [before, after] = JSON.stringify(withValue(example, place, MARK)).split(`"${MARK}"`);
      return Buffer.from(`${before}${written(text)}${after}`);
    }),
  );
}

const part = (name: string, value: string): string => {
  const file = name === 'file' ? '; filename="a.apk"' : '';
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
};

/** A form with a long field, a long file, or a long line above a part. */
function formsOf(shape: RouteShape, most: number): fc.Arbitrary<Buffer>[] {
  const example: Record<string, unknown> = { ...inputExample(shape), file: 'content' };
  const form = (fields: Record<string, unknown>) =>
    `${Object.entries(fields)
      .map(([name, value]) => part(name, String(value)))
      .join('')}--${boundary}--\r\n`;
  const fields = [...placesIn(shape.form as Schema), ['file']].map(([name]) =>
    longText(most).map(text => Buffer.from(form({ ...example, [name!]: text }))),
  );
  const heads = ['name="', 'filename="', "filename*=UTF-8''", ''].map(start =>
    longText(most).map(text => Buffer.from(form(example).replace('form-data;', () => `form-data; ${start}${text}`))),
  );
  return [...fields, ...heads];
}

/** Headers that the daemon or one of its libraries reads, each with what makes its value be looked at. */
const headerStarts: Readonly<Record<string, readonly string[]>> = {
  Authorization: ['Bearer ', `Bearer ${TOKEN}`, 'Bearer eyJhbGciOiJIUzI1NiJ9.', ''],
  'Content-Type': ['application/json;', 'application/json; charset=', 'multipart/form-data;', ''],
  Host: ['localhost:', '[', ''],
  Origin: ['http://', 'http://localhost:', ''],
  'X-Forwarded-For': ['10.0.0.1,', ''],
  'X-Forwarded-Proto': [''],
  'X-Forwarded-Host': [''],
  Forwarded: ['for='],
  Connection: ['keep-alive,', ''],
  Upgrade: ['websocket,', ''],
  Expect: ['100-continue'],
  'Sec-WebSocket-Key': [''],
  'Sec-WebSocket-Protocol': ['a,', ''],
  'Sec-WebSocket-Extensions': ['permessage-deflate;', 'permessage-deflate; client_max_window_bits=', ''],
  Accept: [''],
  Cookie: ['a='],
  'X-Request-Id': [''],
};
const downloadStarts: typeof headerStarts = {
  Range: ['bytes=', 'bytes=1', 'bytes=-'],
  'If-None-Match': ['"', 'W/"', ''],
  'If-Range': ['"'],
};

const headerLines = (starts: typeof headerStarts, most: number): fc.Arbitrary<string> => {
  const choices = Object.entries(starts).flatMap(([name, all]) => all.map(start => [name, start] as const));
  return fc
    .tuple(fc.constantFrom(...choices), longText(most, header))
    .map(([[name, start], text]) => `${name}: ${start}${inHeader(text)}`);
};

/** As bytes of UTF-8; what Node would refuse before anyone looks at it is left out. */
function inHeader(text: string): string {
  return Buffer.from(text.replaceAll(/[\0\r\n]/g, '')).toString('latin1');
}

function inUrl(text: string, most: number): string {
  const written = encodeURIComponent(text.toWellFormed());
  return written.length <= most ? written : written.slice(0, most).replace(/%.?$/, '');
}

/** Ids of things that exist, so that what is asked for is looked at. */
const known: Readonly<Record<string, string>> = { deviceId: 'DEV-1', versionId: 'APP-1', backupId: 'BKP-1' };
/** Operations that would end the sender's token name a user who does not exist. */
const endsToken = new Set(['setPassword', 'logoutUser']);

const pathOf = ({ id, path }: RouteShape): string =>
  path.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? (endsToken.has(id) ? 'USR-2' : 'USR-1'));

const jsonType = 'Content-Type: application/json';
const formType = `Content-Type: multipart/form-data; boundary=${boundary}`;

/** Requests of this operation, each right but for one long text. */
export function longMessages(shape: RouteShape, { body, head }: Lengths): fc.Arbitrary<LongMessage> {
  const { method } = shape;
  const path = pathOf(shape);
  const isStream = shape.websocket === true;
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
  const usual = [
    ...['Host: localhost', `Authorization: Bearer ${TOKEN}`, shape.form ? formType : jsonType],
    ...(isStream ? [...upgrade, key] : []),
  ];
  const nothing = Buffer.alloc(0);
  const content = shape.body ? Buffer.from(JSON.stringify(withoutPasswords(inputExample(shape)))) : nothing;
  const written = shape.body ? bodies(shape, body) : shape.form ? formsOf(shape, body) : [];
  const starts = path.endsWith('/download') ? downloadStarts : headerStarts;
  const names = Object.keys(shape.query?.properties ?? {});
  const parts = path.split('/').flatMap((part, at) => (/^[A-Z]{3}-1$/.test(part) ? [at] : []));
  const places: fc.Arbitrary<LongMessage>[] = [
    ...written.map(body => body.map(body => ({ method, path, lines: usual, body }))),
    ...names.map(name =>
      longText(head).map(text => ({
        method,
        path: `${path}?${name}=${inUrl(text, head)}`,
        lines: usual,
        body: content,
      })),
    ),
    ...parts.map(at =>
      longText(head).map(text => ({
        method,
        path: path.split('/').with(at, inUrl(text, head)).join('/'),
        lines: usual,
        body: content,
      })),
    ),
  ];
  const inHeaders = headerLines(starts, head).map(line => {
    const [name = ''] = line.split(':', 1);
    return { method, path, lines: [...usual.filter(other => !other.startsWith(`${name}:`)), line], body: content };
  });
  if (places.length === 0) return inHeaders;
  // Operations that read a header of their own are tried mostly with that header.
  const weight = starts === downloadStarts ? 1 : 4;
  return fc.oneof({ weight, arbitrary: fc.oneof(...places) }, { weight: 2, arbitrary: inHeaders });
}
