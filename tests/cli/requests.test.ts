/** Requests to a server, and its responses: data, a refusal, or not a devmgr server. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEnvelope } from '../../src/cli/client/envelope.ts';
import { Refusal, Unreachable } from '../../src/cli/client/failures.ts';
import { operationOf, pathOf } from '../../src/cli/client/operations.ts';
import { send, timeouts } from '../../src/cli/client/transport.ts';
import { Fault } from '../../src/cli/fault.ts';
import { routes } from '../../src/contract/routes.ts';

const origin = 'http://registry.example.com';
const answer = (status: number, body: unknown, headers: IncomingHttpHeaders = {}) => ({
  status,
  headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
const open = (...[status, body, headers]: Parameters<typeof answer>) =>
  openEnvelope(answer(status, body, headers), origin, ['deviceId']);

/** What `act` throws; fails if it throws nothing. */
function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the path of a request', () => {
  test.each(Object.entries(routes))('of %s and its method are those of the contract', (name, { method, path }) => {
    expect(operationOf(name as keyof typeof routes)).toMatchObject({ method, path });
  });

  test.each([
    ['../../users/list', '/api/devices/..%2F..%2Fusers%2Flist/lock'],
    ['DEV-1?x=y#z', '/api/devices/DEV-1%3Fx%3Dy%23z/lock'],
    ['', '/api/devices//lock'],
    ['é', '/api/devices/%C3%A9/lock'],
  ])('with %j for a deviceId reaches no other operation', (deviceId, path) => {
    expect(pathOf('/api/devices/{deviceId}/lock', { deviceId })).toBe(path);
  });

  test('is followed by the parameters that have a value', () => {
    const query = { keyword: 'a&b=c', page: 2, status: undefined };
    expect(pathOf('/api/devices/list', {}, query)).toBe('/api/devices/list?keyword=a%26b%3Dc&page=2');
    expect(pathOf('/api/devices/list', {}, { page: undefined })).toBe('/api/devices/list');
  });
});

test('a success returns its data', () => {
  expect(open(200, { code: 200, message: 'success', data: { deviceId: 'DEV-1', more: 1 } })).toEqual({
    deviceId: 'DEV-1',
    more: 1,
  });
});

test('a refusal has the code and message of the server, and the request id', () => {
  const refusal = thrownBy(() =>
    open(404, { code: 2001, message: 'device does not exist', data: null }, { 'x-request-id': 'r-1' }),
  );
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({
    code: 2001,
    message: 'device does not exist',
    requestId: 'r-1',
    waitSeconds: null,
  });
});

test.each([undefined, '', 7])('a refusal without a message (%j) shows its code', message => {
  expect(thrownBy(() => open(400, { code: 2003, message, data: null }))).toMatchObject({ message: 'code 2003' });
});

describe('the wait after a rate limit', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => void vi.useRealTimers());

  const wait = (headers: IncomingHttpHeaders, body: unknown = { code: 429, message: 'slow down', data: null }) =>
    (thrownBy(() => open(429, body, headers)) as Refusal).waitSeconds;

  test.each([
    ['Retry-After, even if the other header differs', { 'retry-after': '7', 'x-ratelimit-reset': '9' }, 7],
    ['the end of the window without Retry-After', { 'x-ratelimit-reset': '1800000042' }, 42],
    ['0 if the window is over', { 'x-ratelimit-reset': '1700000000' }, 0],
    ['the end of the window if Retry-After is a date', { 'retry-after': 'soon', 'x-ratelimit-reset': '1800000005' }, 5],
    ['unknown without either header', {}, null],
    ['unknown if the value is not a number', { 'x-ratelimit-reset': 'tomorrow' }, null],
  ])('is %s', (_, headers, seconds) => {
    expect(wait(headers)).toBe(seconds);
  });

  test('is read from the response of a proxy, too', () => {
    expect(wait({ 'retry-after': '3' }, '<html>busy</html>')).toBe(3);
  });
});

test.each([502, 503, 504])('HTTP %d of a proxy means that its server is unreachable', status => {
  expect(thrownBy(() => open(status, '<html>'))).toBeInstanceOf(Unreachable);
});

test.each([
  ['a web page', 200, '<html>', { 'content-type': 'text/html; charset=utf-8' }, 'a web page with HTTP 200'],
  ['nothing', 204, '', {}, 'nothing with HTTP 204'],
  ['JSON without a code', 200, '{"data":{}}', { 'content-type': 'application/json' }, 'no envelope (application/json)'],
  ['an array', 200, '[200]', {}, 'no envelope'],
  ['data that lacks a field', 200, '{"code":200,"data":{"id":1}}', {}, 'it lacks "deviceId"'],
  ['data that is null', 200, '{"code":200,"data":null}', {}, 'it lacks "deviceId"'],
  ['data that is a list', 200, '{"code":200,"data":[{"deviceId":1}]}', {}, 'it lacks "deviceId"'],
])('%s is not a response of a devmgr server', (_, status, text, headers, words) => {
  const fault = thrownBy(() => open(status, text, headers as IncomingHttpHeaders));
  expect(fault).toBeInstanceOf(Fault);
  expect(fault).toMatchObject({ kind: 'failure', message: expect.stringContaining(words) });
});

test('a redirect is reported, and not followed', () => {
  expect(thrownBy(() => open(307, '', { location: '//elsewhere.example.com/x' }))).toMatchObject({
    kind: 'failure',
    message: expect.stringContaining('to http://elsewhere.example.com'),
    hint: expect.stringContaining('--server http://elsewhere.example.com'),
  });
  expect(thrownBy(() => open(302, '', {}))).toMatchObject({ hint: expect.stringContaining('--server URL') });
});

test('requests that wait for a connection do not use up the connection timeout', async () => {
  const held: ServerResponse[] = [];
  let letGo = false;
  const full = Promise.withResolvers<void>();
  const server = createServer((_, answer) => {
    if (letGo) answer.end();
    else if (held.push(answer) === 4) full.resolve();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const { signal } = new AbortController();
  const asked = Array.from({ length: 6 }, async () => {
    const answer = await send({ method: 'GET', url, headers: {}, signal, reuse: true });
    answer.resume();
    return answer.statusCode;
  });
  await full.promise;
  vi.advanceTimersByTime(timeouts.connectMs);
  letGo = true;
  for (const answer of held) answer.end();
  expect(await Promise.all(asked)).toEqual([200, 200, 200, 200, 200, 200]);
});
