/** Header lines of a request, most of them right. */
import fc from 'fast-check';
import { boundary } from './values.ts';

/** Stands for the token of the daemon that is tried. */
export const TOKEN = '\0token\0';

const mostly = <T>(usual: T, ...odd: readonly T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...odd) });

export const authorization = mostly(
  `Authorization: Bearer ${TOKEN}`,
  ...[
    '',
    'Authorization: Bearer',
    'Authorization: Basic YTpi',
    `Authorization: Bearer ${TOKEN}x`,
    'Authorization: Bearer ..',
  ],
  ...['Authorization: Bearer a.b.c', 'Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJVU1ItMSJ9.'],
  `Authorization: Bearer ${'x'.repeat(5000)}`,
);

export const host = fc.oneof(
  { weight: 12, arbitrary: fc.constant('Host: localhost') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        '',
        'Host: evil.example',
        'Host: ',
        'Host: [::1',
        'Host: a b',
        'Host: localhost:99999999',
        'Host: @localhost',
      ],
    ),
  },
);

export const jsonType = mostly(
  'Content-Type: application/json',
  ...['application/json; charset=utf-16', 'application/json;', 'APPLICATION/JSON', 'application/problem+json'].map(
    asType,
  ),
  ...['text/plain', 'application/x-www-form-urlencoded', 'x', '*/*', 'a/b;', `text/${'x'.repeat(2000)}`].map(asType),
  '',
);
export const formType = mostly(
  `Content-Type: multipart/form-data; boundary=${boundary}`,
  ...['', '; boundary=', '; boundary=other', `; boundary="${boundary}"`, `; boundary=${'x'.repeat(500)}`].map(
    rest => `Content-Type: multipart/form-data${rest}`,
  ),
  'Content-Type: multipart/mixed; boundary=x',
  'Content-Type: application/json',
);
function asType(type: string): string {
  return `Content-Type: ${type}`;
}

export const others = fc.array(
  fc.constantFrom(
    ...[
      'Origin: http://evil.example',
      'Origin: null',
      'Expect: 100-continue',
      'Expect: something',
      'Accept: text/html',
    ],
    ...['Range: bytes=0-', 'Range: bytes=9999999999-', 'Range: bytes=-0', 'If-None-Match: *', 'If-Range: "x"'],
    ...[
      'X-Forwarded-For: 1.2.3.4',
      'X-Request-Id: mine',
      'Accept-Encoding: gzip',
      'Content-Encoding: gzip',
      'Cookie: a=b',
    ],
    ...[
      'Upgrade: h2c',
      'Upgrade: websocket',
      'Connection: upgrade',
      'Connection: keep-alive, upgrade',
      'Connection: close',
    ],
    ...['TE: trailers', 'Trailer: x', 'X-HTTP-Method-Override: DELETE', `X-Long: ${'y'.repeat(8000)}`],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
    ...[
      'Idempotency-Key: 1',
      'Idempotency-Key: 2',
      'Idempotency-Key:',
      'Idempotency-Key: a b',
      'Idempotency-Key: \x80',
    ],
    'X-Any: a\0b',
    `Idempotency-Key: ${'k'.repeat(129)}`,
  ),
  { maxLength: 3 },
);

export const handshake = fc.array(
  fc.constantFrom(
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: 99'],
    ...['Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Key: short', 'Sec-WebSocket-Protocol: a, b'],
    ...['Sec-WebSocket-Protocol: ,,', 'Sec-WebSocket-Extensions: ;;;', 'Origin: http://evil.example'],
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
  ),
  { maxLength: 8 },
);
