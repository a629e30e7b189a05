/** People without a token cause a bounded number of requests to the provider. The addresses are those that a proxy names. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { second } from '../support/clock.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { data } from '../support/fleet.ts';
import { clientSecret } from '../support/sso-provider.ts';

const clock = clockOfTests();
const limits = { login: { count: 1000, seconds: 60 }, query: { count: 1000, seconds: 60 }, modify: null, upload: null };
const daemon = daemonOfTests({ trustProxy: ['127.0.0.1/32'], limits });

/** A provider that holds the requests for tokens and codes, or answers them. */
const held: ServerResponse[] = [];
let asked = 0;
let answer: object | null = null;
let url = '';
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (request.url === '/.well-known/openid-configuration') {
    const at = (path: string) => `${url}/${path}`;
    const endpoints = { authorization_endpoint: at('auth'), token_endpoint: at('token'), jwks_uri: at('jwks') };
    response.end(JSON.stringify({ issuer: url, ...endpoints, device_authorization_endpoint: at('device') }));
    return;
  }
  asked++;
  if (answer === null) return void held.push(response);
  const { status = 200, ...body } = answer as { status?: number };
  response.writeHead(status).end(JSON.stringify(body));
});
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const body = { issuer: url, clientId: 'devmgr', clientSecret, roles: { ADMIN: ['a'], DEALER: [], VIEWER: [] } };
  data(await daemon.call('PUT', '/api/sso', body));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = 0;
  answer = null;
  clock.forward(3600 * second);
});
const release = () => {
  for (const response of held.splice(0)) response.writeHead(503).end('{}');
};

const from = (address: string) => ({ token: null, headers: { 'x-forwarded-for': address } });
const stranger = (n: number) => from(`203.0.${n >> 8}.${n & 255}`);
const start = (options = from('203.0.113.1')) => daemon.call('POST', '/api/auth/sso/device', {}, options);
const poll = (deviceCode: string, options = from('203.0.113.1')) =>
  daemon.call('POST', '/api/auth/sso/device/poll', { deviceCode }, options);
/** A sign-in of a terminal comes back with a code that the provider does not know. */
const begin = async (options = from('203.0.113.1')) => {
  const { state } = data(await daemon.call('POST', '/api/auth/sso/start', { loopbackPort: 5000 }, options));
  return () => daemon.call('GET', `/api/auth/sso/callback?state=${state}&code=bogus`, undefined, options);
};
const bogus = async (options?: Parameters<typeof begin>[0]) => (await begin(options))();
const device = { device_code: 'd', user_code: 'U', verification_uri: 'https://x.example/', expires_in: 600 };
const terminal = async (code: string, options = from('203.0.113.1')) => {
  answer = { ...device, device_code: code, interval: 7 };
  return data(await start(options)).deviceCode as string;
};
const pending = { status: 400, error: 'authorization_pending' };

/** Sends requests of which the provider gets so many at once. Answers those, and others as they come; returns the status of each. */
async function heldAtOnce(most: number, requests: readonly (() => ReturnType<typeof start>)[]) {
  const all = Promise.all(requests.map(request => request()));
  await expect.poll(() => held.length).toBe(most);
  answer = { status: 503 };
  release();
  return (await all).map(({ status }) => status);
}

describe('while the provider does not answer', () => {
  it('300 strangers hold at most 32 requests there, and one address 16; the others wait for their turn', async () => {
    const begun = await Promise.all(Array.from({ length: 150 }, (_, n) => begin(stranger(n))));
    const devices = Array.from({ length: 50 }, (_, n) => () => start(stranger(150 + n)));
    expect(new Set(await heldAtOnce(32, [...begun, ...devices]))).toEqual(new Set([503]));
    answer = null;
    // One IPv6 network is one client.
    const network = Array.from({ length: 30 }, (_, n) => begin(from(`2001:db8::${n.toString(16)}`)));
    expect(new Set(await heldAtOnce(16, await Promise.all(network)))).toEqual(new Set([503]));
  });

  it('someone at another address gets the next turn, however many of one address wait', async () => {
    const begun = await Promise.all(Array.from({ length: 60 }, () => begin()));
    const ended: string[] = [];
    const all = begun.map(request => request().then(() => ended.push('office')));
    await expect.poll(() => held.length).toBe(16);
    const other = (await begin(stranger(1)))().then(() => ended.push('other'));
    await expect.poll(() => held.length).toBe(17);
    held.pop()!.writeHead(503).end('{}');
    await other;
    expect(ended).toEqual(['other']);
    answer = { status: 503 };
    release();
    await Promise.all(all);
  });
});

describe('codes for terminals', () => {
  it('after ten in a minute, an address gets one at a time; others get theirs at once', async () => {
    answer = device;
    for (let n = 0; n < 10; n++) expect((await start()).code).toBe(200);
    answer = null;
    const slow = [start(), start()];
    await expect.poll(() => held.length).toBe(1);
    const others = Array.from({ length: 5 }, (_, n) => start(stranger(n)));
    await expect.poll(() => held.length).toBe(6);
    answer = device;
    for (const response of held.splice(0)) response.end(JSON.stringify(device));
    expect((await Promise.all([...slow, ...others])).map(({ code }) => code)).toEqual(Array(7).fill(200));
  });

  it('are polled once in the interval of the provider, and not after they were used or refused', async () => {
    const code = await terminal('polled');
    asked = 0;
    answer = pending;
    for (let n = 0; n < 20; n++)
      expect(data(await poll(code, stranger(n)))).toEqual({ state: 'PENDING', interval: 7, login: null });
    expect(asked).toBe(1);
    clock.forward(7 * second);
    answer = { status: 400, error: 'slow_down' };
    expect(data(await poll(code))).toMatchObject({ interval: 12 });
    clock.forward(7 * second);
    expect(data(await poll(code))).toMatchObject({ state: 'PENDING' });
    expect(asked).toBe(2);
    clock.forward(7 * second);
    answer = { status: 400, error: 'expired_token' };
    for (let n = 0; n < 5; n++) expect((await poll(code)).code).toBe(1004);
    expect(asked).toBe(3);
    expect((await poll(`${code}A`)).code).toBe(1004);
    expect(asked).toBe(3);
  });
});

it('codes that the provider refuses slow an address down after thirty, and lock no one out', async () => {
  answer = { status: 400, error: 'invalid_grant' };
  for (let n = 0; n < 30; n++) expect((await bogus()).code).toBe(1004);
  // Strangers at many addresses use up what all have together.
  for (let n = 0; n < 270; n++) expect((await bogus(stranger(n))).code).toBe(1004);
  answer = null;
  const begun = await Promise.all([begin(), begin(), begin(stranger(400)), begin(stranger(401))]);
  const answers = begun.map(request => request());
  // Of the address that has used up its own, one; those that have used nothing are not slow.
  await expect.poll(() => held.length).toBe(3);
  answer = { status: 400, error: 'invalid_grant' };
  for (const response of held.splice(0)) response.writeHead(400).end(JSON.stringify(answer));
  expect((await Promise.all(answers)).map(({ code }) => code)).toEqual([1004, 1004, 1004, 1004]);
  const page = await fetch(`${daemon.url}/api/auth/sso/callback?state=x&code=y`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
  expect(page.headers.get('location')).toBe('/console/#/?sso=state');
});
