/** Inputs for a daemon, made from the operations of the interface and spoiled: each of them bytes for a bare socket. */
import fc from 'fast-check';
import type { RouteShape } from '../../src/contract/define.ts';
import { routes } from '../../src/contract/routes.ts';
import * as headers from './headers.ts';
import { type Lengths, type LongMessage, longMessages, usualLengths } from './long.ts';
import { SCIM_TOKEN, scimMessage } from './scim.ts';
import { ssoMessage } from './sso.ts';
import { forms, jsonOf, pathOf, query, segment, share } from './values.ts';

export interface Input {
  /** `request`: one that is framed well, which must be answered. `bytes`: anything. `frames`: sent on an open stream. */
  readonly kind: 'request' | 'bytes' | 'frames';
  readonly method: string;
  readonly bytes: Buffer;
}

interface Message extends LongMessage {
  /** Bytes of a chunk at least; 0 where the length is announced. */
  readonly chunk: number;
}

const nothing = Buffer.alloc(0);

/**
 * Chunks of one body. Node's parser takes 2 µs of the main thread for each, however small and whatever a server does with it (measured):
 * many more would exceed the bound on work alone.
 */
const MOST_CHUNKS = 2000;

function chunked(body: Buffer, least: number): Buffer {
  const size = Math.max(least, Math.ceil(body.length / MOST_CHUNKS));
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

function bytesOf({ method, path, lines, body, chunk }: Message): Buffer {
  const framing = chunk > 0 ? 'Transfer-Encoding: chunked' : body.length > 0 ? `Content-Length: ${body.length}` : '';
  const head = [`${method} ${path} HTTP/1.1`, ...lines, framing].filter(Boolean).join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), chunk > 0 ? chunked(body, chunk) : body]);
}

const methodOf = (shape: RouteShape) =>
  fc.oneof(
    { weight: 10, arbitrary: fc.constant<string>(shape.method) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'GET', 'TRACE', 'PURGE'),
    },
  );

function bodyOf(shape: RouteShape): fc.Arbitrary<Buffer> {
  if (shape.form) return forms;
  return shape.body ? jsonOf(shape) : fc.oneof({ weight: 4, arbitrary: fc.constant(nothing) }, jsonOf(shape));
}

const requestOf = (shape: RouteShape): fc.Arbitrary<Input> =>
  fc
    .record({
      method: methodOf(shape),
      path: pathOf(shape),
      head: fc.tuple(headers.host, headers.authorization, shape.form ? headers.formType : headers.jsonType),
      others: headers.others,
      body: bodyOf(shape),
      chunk: fc.constantFrom(0, 0, 0, 0, 1000, 7),
    })
    .map(({ head, others, ...rest }) => ({
      kind: 'request',
      method: rest.method,
      bytes: bytesOf({ ...rest, lines: [...head, ...others] }),
    }));

const request = fc.oneof(...Object.values(routes).map(requestOf));

/** A body where there can be none is left out. */
export const scimInputs = scimMessage.map(
  (message): Input => ({
    kind: 'request',
    method: message.method,
    bytes: bytesOf({ ...message, body: /GET|HEAD|DELETE/.test(message.method) ? nothing : message.body, chunk: 0 }),
  }),
);

export const ssoInputs = ssoMessage.map(
  (message): Input => ({ kind: 'request', method: message.method, bytes: bytesOf({ ...message, chunk: 0 }) }),
);

const noise = fc.oneof(
  fc.uint8Array({ maxLength: 30 }).map(bytes => Buffer.from(bytes)),
  fc
    .constantFrom(
      ...['\r\n', '\n', '\r', '\0', ' ', ':', '\t', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'Host: a\r\nHost: b\r\n'],
      ...['Transfer-Encoding: chunked\r\n', 'Content-Length: 5\r\n', 'Content-Length: -1\r\n'],
      ...['Content-Length: 99999999999999999999\r\n', 'ffffffffffffffff\r\n', '0\r\n\r\n', '5;ext=1\r\nhello\r\n'],
      ...['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n'],
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'GET http://evil.example/api/health HTTP/1.1\r\nHost: localhost\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    )
    .map(text => Buffer.from(text, 'latin1')),
);

/** A request that was cut, or had something put into it. */
const spoiled = fc
  .tuple(request, fc.array(fc.tuple(share, fc.nat(20), noise), { minLength: 1, maxLength: 4 }))
  .map(([{ method, bytes }, edits]): Input => {
    const edited = edits.reduce((bytes, [at, length, noise]) => {
      const place = Math.floor(bytes.length * at);
      return Buffer.concat([bytes.subarray(0, place), noise, bytes.subarray(place + length)]);
    }, bytes);
    return { kind: 'bytes', method, bytes: edited };
  });

const streamPath = routes.streamNotifications.path;
const upgrade = fc
  .record({
    path: fc.oneof(
      fc.constant(streamPath),
      segment.map(part => `/api/${part}`),
    ),
    query,
    head: fc.tuple(headers.host, headers.authorization),
    handshake: headers.handshake,
  })
  .map(({ path, query, head, handshake }): Input => {
    const lines = [...head, 'Connection: Upgrade', 'Upgrade: websocket', ...handshake];
    const bytes = bytesOf({ method: 'GET', path: path + query, lines, body: nothing, chunk: 0 });
    return { kind: 'bytes', method: 'GET', bytes };
  });

const opening = bytesOf({
  method: 'GET',
  path: streamPath,
  lines: [
    'Host: localhost',
    `Authorization: Bearer ${headers.TOKEN}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ],
  body: nothing,
  chunk: 0,
});
/** Messages of a client on an open stream: frames of every kind, whole, wrong and cut. */
const frame = fc
  .record({
    first: fc.nat(255),
    masked: fc.boolean(),
    length: fc.constantFrom(0, 1, 5, 125, 126, 127),
    content: fc.uint8Array({ maxLength: 200 }),
  })
  .map(({ first, masked, length, content }) => Buffer.from([first, (masked ? 0x80 : 0) | length, ...content]));
const frames = fc
  .array(frame, { minLength: 1, maxLength: 6 })
  .map((frames): Input => ({ kind: 'frames', method: 'GET', bytes: Buffer.concat([opening, ...frames]) }));

/** Each operation with one long repetitive text. */
export const longInputs = (lengths: Lengths): fc.Arbitrary<Input> =>
  fc.oneof(
    ...Object.values(routes as Readonly<Record<string, RouteShape>>).map(shape =>
      longMessages(shape, lengths).map(
        (message): Input => ({
          // A connection that was upgraded has no more requests.
          kind: shape.websocket ? 'bytes' : 'request',
          method: message.method,
          bytes: bytesOf({ ...message, chunk: 0 }),
        }),
      ),
    ),
  );

export const allInputs: fc.Arbitrary<Input> = fc.oneof(
  { weight: 14, arbitrary: request },
  { weight: 4, arbitrary: scimInputs },
  { weight: 2, arbitrary: ssoInputs },
  { weight: 5, arbitrary: longInputs(usualLengths) },
  { weight: 4, arbitrary: spoiled },
  { weight: 1, arbitrary: upgrade },
  { weight: 1, arbitrary: frames },
);

const PORTION = 500;

/** The first `count` inputs of a seed, always the same ones, `PORTION` at a time in memory. */
export function* inputsOf(inputs: fc.Arbitrary<Input>, seed: number, count: number): Generator<Input> {
  for (let made = 0; made < count; made += PORTION)
    yield* fc.sample(inputs, { seed: seed + made, numRuns: Math.min(PORTION, count - made) });
}

/** The bytes as they are sent to a daemon that gave out these tokens. */
export const withToken = ({ bytes }: Input, token: string, scimToken = 'none'): Buffer =>
  Buffer.from(bytes.toString('latin1').replaceAll(headers.TOKEN, token).replaceAll(SCIM_TOKEN, scimToken), 'latin1');
