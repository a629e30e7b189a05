/** The path of a request, and what a response is taken for: data, a refusal, or one of another server. */
import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openEnvelope } from '../../src/cli/client/envelope.ts';
import { ServerRefusal, Unreachable } from '../../src/cli/client/failures.ts';
import { pathOf } from '../../src/cli/client/paths.ts';
import { Fault } from '../../src/cli/fault.ts';

const origin = 'http://registry.example.com';
const response = (status: number, body: unknown, headers: IncomingHttpHeaders = {}) => ({
  status,
  headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
const open = (...[status, body, headers]: Parameters<typeof response>) =>
  openEnvelope(response(status, body, headers), origin, ['deviceId']);

/** The error that `act` throws; fails if it throws nothing. */
function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the path of a request', () => {
  test.each([
    ['../../users/list', '/api/devices/..%2F..%2Fusers%2Flist/lock'],
    ['DEV-1?x=y#z', '/api/devices/DEV-1%3Fx%3Dy%23z/lock'],
    ['', '/api/devices//lock'],
    ['é', '/api/devices/%C3%A9/lock'],
  ])('with %j as a deviceId cannot reach another operation', (deviceId, path) => {
    expect(pathOf('/api/devices/{deviceId}/lock', { deviceId })).toBe(path);
  });

  test('ends with the parameters that have a value', () => {
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

test('a refusal has code and message of the server, and the id of the request', () => {
  const refusal = thrownBy(() =>
    open(404, { code: 2001, message: 'device does not exist', data: null }, { 'x-request-id': 'r-1' }),
  );
  expect(refusal).toBeInstanceOf(ServerRefusal);
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

describe('the wait for a limit', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => void vi.useRealTimers());

  const wait = (headers: IncomingHttpHeaders, body: unknown = { code: 429, message: 'slow down', data: null }) =>
    (thrownBy(() => open(429, body, headers)) as ServerRefusal).waitSeconds;

  test.each([
    [
      'Retry-After, no matter what clock the other header was written by',
      { 'retry-after': '7', 'x-ratelimit-reset': '9' },
      7,
    ],
    ['until the end of the window if that is all there is', { 'x-ratelimit-reset': '1800000042' }, 42],
    ['zero if the window is over', { 'x-ratelimit-reset': '1700000000' }, 0],
    [
      'until the end of the window if Retry-After is a date',
      { 'retry-after': 'soon', 'x-ratelimit-reset': '1800000005' },
      5,
    ],
    ['unknown without a header', {}, null],
    ['unknown if the header is not a number', { 'x-ratelimit-reset': 'tomorrow' }, null],
  ])('is %s', (_, headers, seconds) => {
    expect(wait(headers)).toBe(seconds);
  });

  test('is read from the response of a proxy as well', () => {
    expect(wait({ 'retry-after': '3' }, '<html>busy</html>')).toBe(3);
  });
});

test.each([502, 503, 504])('HTTP %d of a proxy means that its server is away', status => {
  expect(thrownBy(() => open(status, '<html>'))).toBeInstanceOf(Unreachable);
});

test.each([
  ['a web page', 200, '<html>', { 'content-type': 'text/html; charset=utf-8' }, 'it sent a web page with HTTP 200'],
  ['nothing', 204, '', {}, 'it sent nothing with HTTP 204'],
  [
    'JSON without a code',
    200,
    '{"data":{}}',
    { 'content-type': 'application/json' },
    'an unexpected response (application/json)',
  ],
  ['an array', 200, '[200]', {}, 'an unexpected response'],
  ['data that lacks a field', 200, '{"code":200,"data":{"id":1}}', {}, '"deviceId" is missing'],
  ['data that is null', 200, '{"code":200,"data":null}', {}, '"deviceId" is missing'],
  ['data that is a list', 200, '{"code":200,"data":[{"deviceId":1}]}', {}, '"deviceId" is missing'],
])('%s does not come from a devmgr server', (_, status, text, headers, words) => {
  const fault = thrownBy(() => open(status, text, headers as IncomingHttpHeaders));
  expect(fault).toBeInstanceOf(Fault);
  expect(fault).toMatchObject({ kind: 'failure', message: expect.stringContaining(words) });
});

test('a redirect is reported, with the server that it names', () => {
  expect(thrownBy(() => open(307, '', { location: '//elsewhere.example.com/x' }))).toMatchObject({
    kind: 'failure',
    message: expect.stringContaining('redirects to http://elsewhere.example.com'),
    hint: expect.stringContaining('--server http://elsewhere.example.com'),
  });
  expect(thrownBy(() => open(302, '', {}))).toMatchObject({ hint: expect.stringContaining('--server URL') });
});
