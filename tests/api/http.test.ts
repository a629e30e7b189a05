/** Properties of all responses, whatever the request. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

const device = (serialNumber: string) => ({ deviceType: 'UKEY', serialNumber, manufacturer: 'Feitian', model: 'K9' });

/** Sends raw bytes and reads until the daemon closes the connection. */
function raw(text: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(daemon.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let response = '';
    socket.on('data', chunk => {
      response += chunk;
    });
    socket.on('end', () => resolve(response));
    socket.on('close', () => resolve(response));
    socket.on('error', reject);
  });
}

function parsed(response: string): {
  status: number;
  headers: string;
  body: { code: number; message: string; data: unknown };
} {
  const [head, body] = response.split('\r\n\r\n') as [string, string];
  return { status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: JSON.parse(body) };
}

describe('every response is an envelope', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['GET', '/api/devices'],
    ['GET', '/api/devices/'],
    ['POST', '/api/devices/DEV-1'],
    ['DELETE', '/api/devices/DEV-1'],
    ['PATCH', '/api/devices/DEV-1'],
    ['GET', '/api/devices/register/x/y'],
    ['GET', '/api/devices/register'],
    ['PUT', '/api/devices/register'],
    ['GET', '/api/devices/batch-register'],
    ['GET', '/api/devices/activate'],
    ['PUT', '/api/devices/list'],
    ['GET', '/api/devices/generate-activation-code'],
    ['GET', '/api/app-versions/upload'],
    ['PUT', '/api/users/me'],
    ['GET', '/api/auth/login'],
    ['OPTIONS', '/api/auth/login'],
    ['GET', '/api/devices/list/'],
    ['GET', '/API/devices/list'],
    ['GET', '/api//devices/list'],
    ['GET', '/api/devices/%zz'],
    ['GET', '/api/../etc/passwd'],
    ['GET', '/api/users'],
    ['POST', '/api/devices//lock'],
  ])('%s %s is 404, with or without a token', async (method, path) => {
    for (const token of [undefined, null]) {
      const { status, body, headers } = parsed(
        await raw(
          `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${token === null ? '' : `Authorization: Bearer ${daemon.adminToken}\r\n`}\r\n`,
        ),
      );
      expect([status, body.code, body.data]).toEqual([404, 404, null]);
      expect(headers).toContain('x-request-id:');
    }
  });

  test.each([
    ['is not HTTP', 'nonsense\r\n\r\n'],
    ['has an unknown method', 'FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['has a header without a colon', 'GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n'],
    [
      'has two lengths',
      'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    ],
    [
      'has length and chunks',
      'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    ],
    ['has a header that is too long', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    [
      'has two Host headers',
      'GET /api/health HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\nConnection: close\r\n\r\n',
    ],
    ['has no Host header', 'GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('a request that %s is 1001', async (_what, text) => {
    const { status, body, headers } = parsed(await raw(text));
    expect([status, body.code, body.data]).toEqual([400, 1001, null]);
    expect(headers).toContain('x-request-id:');
    expect(headers).toContain('content-type: application/json');
  });

  test.each([
    ['POST /api/nope HTTP/1.1', 'Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{'],
    ['GET /api/devices/list/ HTTP/1.1', 'Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx'],
    ['CONNECT localhost:80 HTTP/1.1', '\r\n'],
  ])('%s is 404 whatever its headers and body', async (line, rest) => {
    const { status, body, headers } = parsed(await raw(`${line}\r\nHost: localhost\r\nConnection: close\r\n${rest}`));
    expect([status, body.code, body.data]).toEqual([404, 404, null]);
    expect(headers).toContain('x-request-id:');
  });

  test('an unsupported expectation is 1001', async () => {
    const { status, body, headers } = parsed(
      await raw('GET /api/health HTTP/1.1\r\nHost: localhost\r\nExpect: the-impossible\r\n\r\n'),
    );
    expect([status, body.code, body.data]).toEqual([400, 1001, null]);
    expect(headers).toContain('x-request-id:');
  });

  test.each(['Content-Length: 33554432\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n2000000\r\n'])(
    'a client that reads only after it has sent 32 MiB receives the error and can continue (%j)',
    async framing => {
      const { hostname, port } = new URL(daemon.url);
      const socket = connect(Number(port), hostname).pause();
      const sent = (bytes: string | Buffer) => new Promise(done => socket.write(bytes, done));
      await sent(`POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${framing}`);
      await sent(Buffer.alloc(32 * 2 ** 20, 32));
      await sent(framing.startsWith('T') ? '\r\n0\r\n\r\n' : '');
      await sent('GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      let responses = '';
      for await (const chunk of socket) responses += chunk;
      expect(responses.match(/"code":\d+/g)).toEqual(['"code":1001', '"code":200']);
    },
  );

  test.each([
    ['malformed JSON', '{"username":', 'application/json'],
    ['JSON that is not an object', '[]', 'application/json'],
    ['a string', '"x"', 'application/json'],
    ['null', 'null', 'application/json'],
    ['a form', 'username=admin', 'application/x-www-form-urlencoded'],
    ['plain text', '{}', 'text/plain'],
    ['no declared type', '{"username":"admin"}', ''],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'application/json'],
    ['__proto__', '{"username":"a","password":"b","__proto__":{"x":1}}', 'application/json'],
    ['a nested __proto__', '{"username":"a","password":"b","x":[{"y":{"__proto__":1}}]}', 'application/json'],
    ['an escaped __proto__', '{"username":"a","password":"b","\\u005f_proto__":1}', 'application/json'],
    ['100,000 brackets', '['.repeat(100_000), 'application/json'],
  ])('a body that contains %s is 1001', async (_what, body, type) => {
    const response = await daemon.call('POST', '/api/auth/login', undefined, {
      token: null,
      raw: new Blob([body as never]),
      headers: type ? { 'content-type': type } : { 'content-type': '' },
    });
    expect([response.status, response.code, response.data]).toEqual([400, 1001, null]);
  });

  test('names a refused field instead of reporting invalid JSON', async () => {
    const raw = new Blob(['{"username":"a","__proto__":{}}']);
    const headers = { 'content-type': 'application/json' };
    const response = await daemon.call('POST', '/api/auth/login', undefined, { token: null, raw, headers });
    expect(response.message).toContain('__proto__');
  });

  test('a body over 1 MiB is 1001; a batch may have 16 MiB', async () => {
    const big = { ...device('BIG-1'), x: 'x'.repeat(1024 * 1024) };
    expect(await daemon.call('POST', '/api/devices/register', big)).toMatchObject({
      status: 400,
      code: 1001,
      data: null,
    });
    const batch = (bytes: number) => ({ devices: [{ ...device('BIG-2'), x: 'x'.repeat(bytes) }] });
    expect(await daemon.call('POST', '/api/devices/batch-register', batch(15 * 1024 * 1024))).toMatchObject({
      code: 200,
    });
    expect(await daemon.call('POST', '/api/devices/batch-register', batch(16 * 1024 * 1024))).toMatchObject({
      status: 400,
      code: 1001,
    });
  });

  test('reads an absent body as {} and names a required field', async () => {
    expect(await daemon.call('POST', '/api/auth/login', undefined, { token: null })).toMatchObject({
      code: 1001,
      message: 'username is required',
    });
    expect(await daemon.call('POST', '/api/devices/DEV-999999/unlock')).toMatchObject({ code: 2001 });
  });

  test('ignores the fields constructor and prototype like any unknown field', async () => {
    const body = { ...device('PROTO-1'), constructor: { prototype: { x: 1 } } };
    expect(await daemon.call('POST', '/api/devices/register', body)).toMatchObject({ code: 200 });
  });
});

describe('the order of the checks', () => {
  test('route, then token, then role, then body', async () => {
    const viewer = await daemon.user('order-viewer', 'VIEWER');
    expect((await daemon.call('POST', '/api/devices/nothing/here', {}, { token: null })).code).toBe(404);
    expect((await daemon.call('POST', '/api/devices/register', {}, { token: null })).code).toBe(1004);
    expect((await daemon.call('POST', '/api/devices/register', {}, { token: viewer.token })).code).toBe(2007);
    expect((await daemon.call('POST', '/api/devices/register', {})).code).toBe(1001);
  });
  test('the token is checked before the body', async () => {
    const response = await daemon.call('POST', '/api/devices/register', undefined, {
      token: null,
      raw: '{broken',
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, response.code]).toEqual([401, 1004]);
  });
  test('body, then existence', async () => {
    expect((await daemon.call('POST', '/api/devices/DEV-999999/lock', {})).code).toBe(1001);
    expect((await daemon.call('POST', '/api/devices/DEV-999999/lock', { reason: 'x' })).code).toBe(2001);
    expect((await daemon.call('PUT', '/api/devices/DEV-999999', {})).code).toBe(1001);
  });
  test.each([
    'DEV-0',
    'DEV-01',
    'DEV-1x',
    'dev-1',
    'DEV-',
    'x',
    'DEV-99999999999999999999',
    "DEV-1' OR '1",
    '%00',
    'x'.repeat(500),
  ])('a malformed id is a device that does not exist: %s', async id => {
    expect(await daemon.call('GET', `/api/devices/${encodeURIComponent(id)}`)).toMatchObject({
      status: 404,
      code: 2001,
    });
  });
});

describe('tokens', () => {
  const sign = (header: object, payload: object, signature: string) =>
    `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${signature}`;
  const claims = { sub: 'USR-1', username: 'admin', role: 'ADMIN', epoch: 0, exp: 4_000_000_000, iat: 1 };
  test.each([
    ['none at all', null],
    ['nonsense', 'x'],
    ['an unsigned one', sign({ alg: 'none', typ: 'JWT' }, claims, '')],
    ['one with another algorithm', sign({ alg: 'HS512', typ: 'JWT' }, claims, 'AAAA')],
    ['a forged one', sign({ alg: 'HS256', typ: 'JWT' }, claims, 'A'.repeat(43))],
  ])('%s is 1004', async (_what, token) => {
    expect(await daemon.call('GET', '/api/devices/list', undefined, { token })).toMatchObject({
      status: 401,
      code: 1004,
      data: null,
    });
  });
  test('a truncated or modified one is 1004', async () => {
    for (const token of [daemon.adminToken.slice(0, -1), `${daemon.adminToken}A`, daemon.adminToken.replace('.', '..')])
      expect((await daemon.call('GET', '/api/devices/list', undefined, { token })).code).toBe(1004);
  });
  test('a scheme other than Bearer is 1004; the scheme is case-insensitive', async () => {
    const call = (authorization: string) =>
      daemon.call('GET', '/api/devices/list', undefined, { token: null, headers: { authorization } });
    expect((await call(`Basic ${daemon.adminToken}`)).code).toBe(1004);
    expect((await call(`bearer ${daemon.adminToken}`)).code).toBe(200);
  });
  test('refresh returns a new token; the earlier one stays valid', async () => {
    const refreshed = await daemon.call('POST', '/api/auth/refresh');
    expect(refreshed.code).toBe(200);
    expect(refreshed.data.token).not.toBe(daemon.adminToken);
    expect(Date.parse(refreshed.data.expireTime)).toBeGreaterThan(Date.now() + 86_000_000);
    for (const token of [refreshed.data.token, daemon.adminToken])
      expect((await daemon.call('GET', '/api/users/me', undefined, { token })).code).toBe(200);
  });
  test('the local token is valid for the hardware operations only', async () => {
    const { readFile } = await import('node:fs/promises');
    const token = (await readFile(`${daemon.home}/local-token`, 'utf8')).trim();
    expect((await daemon.call('GET', '/api/hardware/keys', undefined, { token })).code).toBe(200);
    for (const [method, path] of [
      ['GET', '/api/devices/list'],
      ['GET', '/api/users/me'],
      ['POST', '/api/auth/refresh'],
      ['GET', '/api/devices/DEV-1'],
    ] as const)
      expect((await daemon.call(method, path, undefined, { token })).code, path).toBe(2007);
  });
  test('never appear in the log', () => {
    expect(daemon.logged()).not.toContain(daemon.adminToken);
    expect(daemon.logged()).not.toContain(daemon.adminToken.split('.')[2]);
  });
});

describe('pages of other sites', () => {
  test('cannot call the daemon, even with a rebound name', async () => {
    const get = (headers: string) =>
      raw(`GET /api/health HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`).then(parsed);
    expect((await get('Host: evil.example\r\n')).body.code).toBe(2007);
    expect((await get('Host: localhost\r\nOrigin: http://evil.example\r\n')).body.code).toBe(2007);
    const own = await get('Host: localhost:1\r\nOrigin: http://localhost:1\r\n');
    expect(own.body.code).toBe(200);
    expect(own.headers).not.toContain('access-control');
  });
});
