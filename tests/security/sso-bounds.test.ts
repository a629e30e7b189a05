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

/** How many of these requests are refused while the others wait. */
async function refusedOf(requests: readonly (() => ReturnType<typeof start>)[]) {
  let refused = 0;
  const all = requests.map(async request => {
    const { status, headers } = await request();
    if (status === 429 && Number(headers.get('retry-after')) > 0) refused++;
  });
  await expect.poll(() => refused + held.length).toBe(requests.length);
  const found = { refused };
  release();
  await Promise.all(all);
  return found;
}

describe('while the provider does not answer', () => {
  it('300 strangers hold at most 32 requests there, and one address 16; the others get 429 with Retry-After', async () => {
    const begun = await Promise.all(Array.from({ length: 150 }, (_, n) => begin(stranger(n))));
    const statuses = await refusedOf([
      ...begun,
      ...Array.from({ length: 150 }, (_, n) => () => start(stranger(150 + n))),
    ]);
    expect({ waiting: asked, ...statuses }).toEqual({ waiting: 32, refused: 268 });
    // One IPv6 network is one client.
    const network = Array.from({ length: 30 }, (_, n) => begin(from(`2001:db8::${n.toString(16)}`)));
    expect(await refusedOf(await Promise.all(network))).toEqual({ refused: 14 });
  });
});

describe('codes for terminals', () => {
  it('are ten a minute for one address, and sixty for all', async () => {
    answer = device;
    for (let n = 0; n < 10; n++) expect((await start()).code).toBe(200);
    expect(await start()).toMatchObject({ status: 429 });
    const others = await Promise.all(Array.from({ length: 30 }, (_, n) => start(stranger(n % 10))));
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set([200]));
    for (let n = 0; n < 30; n++) await start(stranger(100 + n));
    expect(await start(stranger(200))).toMatchObject({ status: 429 });
    expect(asked).toBe(60);
    clock.forward(60 * second);
    expect((await start()).code).toBe(200);
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

it('codes that the provider refuses are thirty in ten minutes for one address', async () => {
  answer = { status: 400, error: 'invalid_grant' };
  for (let n = 0; n < 30; n++) expect((await bogus()).code).toBe(1004);
  expect(await bogus()).toMatchObject({ status: 429 });
  expect((await bogus(stranger(1))).code).toBe(1004);
  expect(asked).toBe(31);
  const page = await fetch(`${daemon.url}/api/auth/sso/callback?state=x&code=y`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
  expect(page.headers.get('location')).toBe('/console/#/?sso=state');
});
