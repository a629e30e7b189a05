/** Values, bodies, queries and paths near those of an operation, and wrong in every way that came to mind. */
import fc from 'fast-check';
import type { RouteShape } from '../../src/contract/define.ts';
import { endpoints } from '../../src/contract/endpoints.ts';

const oddTexts = fc.constantFrom(
  ...[
    '',
    ' ',
    '\u0000',
    '\u202e',
    '\ud800',
    '../../etc/passwd',
    '%2e%2e%2f',
    "' OR 1=1 --",
    '"; DROP TABLE device; --',
  ],
  ...['__proto__', 'constructor', 'null', 'NaN', '-1', '1e309', '9'.repeat(40), 'x'.repeat(300), '🔑'.repeat(70)],
  ...['DEV-0', 'DEV-1', 'USR-1', 'APP-1', 'BKP-1', 'DEV-9007199254740993'],
);
export const text = fc.oneof(oddTexts, fc.string({ maxLength: 40, unit: 'binary' }), fc.string({ maxLength: 40 }));
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, Number.POSITIVE_INFINITY, -0, 2 ** 53, [], {}),
  fc.json({ maxDepth: 3 }).map(json => JSON.parse(json) as unknown),
);
export const share = fc.double({ min: 0, max: 1, noNaN: true });
export const cut = (bytes: Buffer, at: number): Buffer => bytes.subarray(0, Math.floor(bytes.length * at));

/** A password is never a good one, a user never one that exists: the cost of a hash is not what is tried here. */
function fieldValue(name: string, example: unknown): fc.Arbitrary<unknown> {
  if (/password/i.test(name)) return fc.oneof(fc.integer(), fc.constantFrom(null, '', [], {}, true));
  if (name === 'username') return fc.oneof(scalar, fc.constant('no-such-user'));
  return fc.oneof({ weight: 2, arbitrary: fc.constant(example) }, { weight: 3, arbitrary: scalar });
}

/** The example of the operation with fields changed, missing and added. */
function fieldsOf(shape: RouteShape): fc.Arbitrary<Record<string, unknown>> {
  const example = shape.example?.body ?? {};
  const names = Object.keys({ ...shape.body?.properties, ...example });
  const fields = Object.fromEntries(names.map(name => [name, fieldValue(name, example[name])]));
  const more = fc.dictionary(fc.string({ maxLength: 8 }), scalar, { maxKeys: 2 });
  return fc.tuple(fc.record(fields, { requiredKeys: [] }), more).map(([known, more]) => ({ ...more, ...known }));
}

const oddJson = fc.constantFrom(
  ...[
    'null',
    '[]',
    '"x"',
    '{',
    '}{',
    '{"a":1,}',
    '{"__proto__":{}}',
    '{"a":{"constructor":{"prototype":{}}}}',
    '\ufeff{}',
  ],
  ...['{"a":1e999999}', '{"a":1,"a":2}', '['.repeat(20_000), `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  `{"a":"${'\\u0000'.repeat(1000)}"}`,
  '{"a\\u0000":1}',
  '{"\\u005f_proto__":1}',
  `{"${'n'.repeat(61)}":1}`,
  `{"${'\\ud83d\\udd11'.repeat(60)}":1}`,
);

/** JSON with about as many members and elements as a body may have, or with long names: where the bounds are, and beyond. */
const heavyJson = fc
  .record({
    name: fc.constantFrom('devices', 'items', 'tags', 'x'),
    count: fc.constantFrom(0, 1, 1, 2, 20, 1999, 2001),
    unit: fc.constantFrom(
      '0',
      '{}',
      '[]',
      'null',
      '"\\u0000"',
      '{"serialNumber":"\\u0000"}',
      '{"a":1,"a":2}',
      '[[{"b":[]}]]',
    ),
    members: fc.constantFrom(0, 1, 2, 255, 257),
    length: fc.constantFrom(1, 59, 60, 61),
  })
  .map(({ name, count, unit, members, length }) => {
    const names = Array.from({ length: members }, (_, i) => `"${String(i).padStart(length, 'é')}":${i}`);
    return Buffer.from(
      `{"${name}":[${Array.from({ length: count }, () => unit).join()}]${names.map(member => `,${member}`).join('')}}`,
    );
  });

/** The body with U+0000 in one of its texts, or in the texts of an item, if it is a batch. */
const withNull = (body: Record<string, unknown>, at: number): Record<string, unknown> => {
  const entries = Object.entries(body);
  if (entries.length === 0) return { '\0': 1 };
  const [name, value] = entries[Math.floor(at * entries.length)] ?? entries[0]!;
  if (!Array.isArray(value) || value.length === 0) return { ...body, [name]: '\0' };
  const [first, ...others] = value as unknown[];
  const isObject = typeof first === 'object' && first !== null;
  return { ...body, [name]: [isObject ? withNull(first as Record<string, unknown>, at) : '\0', ...others] };
};

/** JSON, or something that is nearly JSON. */
export function jsonOf(shape: RouteShape): fc.Arbitrary<Buffer> {
  const bodies = fieldsOf(shape);
  const whole = bodies.map(body => Buffer.from(JSON.stringify(body)));
  const spoiled = fc.tuple(bodies, share).map(([body, at]) => Buffer.from(JSON.stringify(withNull(body, at))));
  return fc.oneof(
    { weight: 12, arbitrary: whole },
    { weight: 2, arbitrary: spoiled },
    { weight: 1, arbitrary: heavyJson },
    { weight: 2, arbitrary: fc.tuple(whole, share).map(([bytes, at]) => cut(bytes, at)) },
    { weight: 2, arbitrary: oddJson.map(json => Buffer.from(json)) },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)) },
  );
}

export const boundary = 'fuzz-boundary';
const partHeads = fc.constantFrom(
  'Content-Disposition: form-data; name="file"; filename="a.apk"',
  'Content-Disposition: form-data; name="file"; filename="../../../etc/cron.d/x.apk"',
  `Content-Disposition: form-data; name="file"; filename*=UTF-8''%2e%2e%2fx.apk`,
  'Content-Disposition: form-data; name="file"',
  'Content-Disposition: form-data; name="file"; filename="a\0.apk"',
  `Content-Disposition: form-data; name="file"; filename*=UTF-8''a%00.apk`,
  'Content-Disposition: form-data; name="note\0"',
  ...['platform', 'version', 'note', '__proto__'].map(name => `Content-Disposition: form-data; name="${name}"`),
  'Content-Disposition: form-data',
  'Content-Type: multipart/mixed; boundary=x',
  'X: y',
  '',
);
const partContents = fc.oneof(
  fc.constantFrom('ANDROID', '1.0.0', 'true', '', 'x'.repeat(3000), 'a\0b', `--${boundary}`),
  text,
);
const parts = fc.array(fc.tuple(partHeads, partContents), { maxLength: 5 });

/** A multipart form, seldom a whole one. */
export const forms: fc.Arbitrary<Buffer> = fc
  .tuple(parts, fc.constantFrom('--', '', '--\r\n', '\r\n--'), share)
  .map(([parts, end, at]) => {
    const pieces = parts.map(([head, content]) => `--${boundary}\r\n${head}\r\n\r\n${content}\r\n`);
    const whole = Buffer.from(`${pieces.join('')}--${boundary}${end}`);
    return at < 0.8 ? whole : cut(whole, at);
  });

const inUrl = (value: string) => encodeURIComponent(value.toWellFormed());
export const segment = fc.oneof(
  text.map(inUrl),
  fc.constantFrom('DEV-1', 'DEV-2', 'DEV-999999999', 'USR-1', 'APP-1', 'BKP-1'),
  fc.constantFrom('%', '%zz', '%00', 'DEV-1%00', '%ff', '..', '.', '%2e%2e', 'a%2fb'),
);
const queryName = fc.constantFrom(
  ...[
    'page',
    'size',
    'pageSize',
    'sortBy',
    'sortOrder',
    'keyword',
    'search',
    'status',
    'deviceType',
    'manufacturer',
    'userId',
  ],
  ...['platform', 'currentVersion', 'extension', 'token', 'since', 'types', '__proto__', 'a[b]'],
);
const queryValue = fc.oneof(
  text.map(inUrl),
  fc.constantFrom('1', '100', '101', '0', '%', '%zz', '%00', 'a%00b', 'createTime', 'asc', 'ACTIVE', 'ANDROID', 'exe'),
);
export const query = fc
  .array(fc.tuple(queryName, queryValue), { maxLength: 4 })
  .map(pairs => (pairs.length ? `?${pairs.map(pair => pair.join('=')).join('&')}` : ''));

/** If the sender were logged out, every later input would only be refused. */
const sender = '/USR-1/';

/** The path of the operation, with ids that may be anything, and a query. */
export function pathOf(shape: RouteShape): fc.Arbitrary<string> {
  const names = [...shape.path.matchAll(/\{\w+\}/g)].map(([name]) => name);
  return fc.tuple(fc.tuple(...names.map(() => segment)), query).map(([values, query]) => {
    const path = names.reduce((path, name, i) => path.replace(name, () => values[i]!), shape.path);
    return (shape.path === endpoints.logoutUser.path ? path.replace(sender, '/USR-2/') : path) + query;
  });
}
