/** A provider that does not accept the registry as its client is named as such: to ADMINs with the reason, to others without. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { second } from '../support/clock.ts';
import { clockOfTests, daemonOfTests } from '../support/daemon-tests.ts';
import { data } from '../support/fleet.ts';
import { Browser, clientSecret, type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';

const clock = clockOfTests();
const daemon = daemonOfTests();
const wrong = 'a secret that has expired';
const anonymous = { token: null };

const clientFinding = async () => {
  const { ok, findings } = data(await daemon.call('POST', '/api/sso/test'));
  const { detail, ...found } = findings.find(({ check }: { check: string }) => check === 'client secret');
  return { all: ok, ok: found.ok, detail };
};
const refused = { all: false, ok: false, detail: expect.stringMatching(/^the provider refuses the client secret \(/) };
/** A sign-in of a terminal that comes back with a code. */
const signIn = async (issuer = '') => {
  const { state } = data(await daemon.call('POST', '/api/auth/sso/start', { loopbackPort: 5000 }, anonymous));
  return daemon.call(
    'GET',
    `/api/auth/sso/callback?state=${state}&code=x${issuer && `&iss=${encodeURIComponent(issuer)}`}`,
    undefined,
    anonymous,
  );
};

describe('at a provider that looks at the client first', () => {
  let provider: SsoProvider;
  beforeAll(async () => {
    provider = await startSsoProvider({ daemons: [daemon.url] });
    provider.people.set('s-ana', { name: 'ana', groups: ['keys-admins'] });
  });
  afterAll(() => provider?.stop());
  beforeEach(() => setUp(daemon, provider));

  it('the test of the settings shows without a sign-in whether the secret is accepted, and tries a wrong one once', async () => {
    const asked = () => provider.requested.filter(path => path === '/token').length;
    expect(await clientFinding()).toEqual({ all: true, ok: true, detail: 'accepted' });
    const before = asked();
    expect(await clientFinding()).toEqual({ all: true, ok: true, detail: 'accepted' });
    expect(asked()).toBe(before + 1);
    await setUp(daemon, provider, { clientSecret: wrong });
    expect(await clientFinding()).toEqual(refused);
  });

  it('sign-ins are refused without the reason, which the log has, and sessions continue but are not renewed', async () => {
    const { token } = await new Browser().signIn(daemon, 's-ana');
    await setUp(daemon, provider, { clientSecret: wrong });
    expect(await new Browser().signIn(daemon, 's-ana')).toMatchObject({ problem: 'client', token: '' });
    for (const answer of [
      await signIn(provider.issuer),
      await daemon.call('POST', '/api/auth/sso/device', {}, anonymous),
    ]) {
      expect(answer).toMatchObject({ status: 401, code: 1004 });
      expect(answer.message).toBe('the provider does not accept this registry: ask an administrator');
    }
    clock.forward(60 * second);
    expect((await daemon.call('GET', '/api/auth/session', undefined, { token })).code).toBe(200);
    clock.forward(60 * second);
    const renewal = await daemon.call('POST', '/api/auth/refresh', {}, { token });
    expect(renewal).toMatchObject({ status: 500, message: expect.stringContaining('does not accept this registry') });
    expect((await daemon.call('GET', '/api/auth/session', undefined, { token })).code).toBe(200);
    expect(daemon.logged()).toContain('the provider refuses the client secret (');
    expect(daemon.logged()).toContain('does not accept this registry: its sessions continue');
    expect(daemon.logged()).not.toContain(wrong);
  });
});

describe('at any provider', () => {
  let url = '';
  /** The answer to a request for tokens. */
  let answer: (request: IncomingMessage, body: string) => readonly [number, string, Record<string, string>?];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    // The clock of the daemon is held.
    response.sendDate = false;
    const json = (value: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    if (request.url === '/.well-known/openid-configuration') {
      const [authorization_endpoint, token_endpoint, jwks_uri] = [`${url}/auth`, `${url}/token`, `${url}/jwks`];
      return json({ issuer: url, authorization_endpoint, token_endpoint, jwks_uri });
    }
    if (request.url === '/jwks') return json({ keys: [{ kty: 'RSA', kid: 'a', n: 'AQ', e: 'AQAB' }] });
    const [status, sent, headers] = answer(request, body);
    return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(sent);
  });
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const setStub = async () => {
    const roles = { ADMIN: ['a'], DEALER: [], VIEWER: [] };
    data(await daemon.call('PUT', '/api/sso', { issuer: url, clientId: 'devmgr', clientSecret, roles }));
  };
  const challenge = { 'www-authenticate': 'Basic realm="x"' };

  it.each([
    ['401 without a body', 401, '', {}],
    ['401 with a challenge', 401, '{"error":"invalid_client"}', challenge],
    ['403 with a page', 403, '<p>no</p>', { 'content-type': 'text/html' }],
    ['400 invalid_client', 400, '{"error":"invalid_client"}', {}],
    ['401 unauthorized_client, as Keycloak does', 401, '{"error":"unauthorized_client"}', {}],
  ])('%s is a refused secret', async (_what, status, body, headers) => {
    await setStub();
    answer = () => [status, body, headers];
    expect(await clientFinding()).toEqual(refused);
    expect(await signIn()).toMatchObject({ code: 1004, message: expect.stringContaining('this registry') });
  });

  it('a refused grant is named as one', async () => {
    await setStub();
    answer = () => [400, '{"error":"unauthorized_client"}'];
    expect(await clientFinding()).toMatchObject({ ok: false, detail: expect.stringContaining('refuses a grant') });
  });

  it('one that looks at the code first is shown as such, and its last answer counts', async () => {
    await setStub();
    answer = () => [400, '{"error":"invalid_grant"}'];
    const unknown = { all: true, ok: true, detail: expect.stringContaining('only at a sign-in') };
    expect(await clientFinding()).toEqual(unknown);
    answer = () => [401, '{"error":"invalid_client"}'];
    await signIn();
    answer = () => [400, '{"error":"invalid_grant"}'];
    expect(await clientFinding()).toEqual(refused);
    // Another secret is another client.
    await setStub();
    expect(await clientFinding()).toEqual(unknown);
  });
});
