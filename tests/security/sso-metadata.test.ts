/**
 * A provider of single sign-on whose description or codes are malformed: a sign-in is refused in one line, and nothing fails inside
 * the daemon.
 */
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { answering, json } from '../support/http-servers.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

/** Signs in at a provider with these members in its metadata, or in its response to the request of a terminal. */
async function signInAt(metadata: object, device: object = {}) {
  const key = { ...(await exportJWK((await generateKeyPair('RS256')).publicKey)), kid: '1', alg: 'RS256' };
  const { url } = await answering((request, response) => {
    const of = (path: string) => `http://${request.headers.host}${path}`;
    const described = {
      issuer: of(''),
      jwks_uri: of('/keys'),
      token_endpoint: of('/token'),
      authorization_endpoint: of('/sign-in'),
      device_authorization_endpoint: of('/device'),
      ...metadata,
    };
    const code = { device_code: 'a', user_code: 'b', verification_uri: of('/code'), expires_in: 300, ...device };
    const answers: Readonly<Record<string, object>> = { '/keys': { keys: [key] }, '/device': code };
    response.writeHead(200, json).end(JSON.stringify(answers[request.url!] ?? described));
  });
  const settings = {
    issuer: url,
    clientId: 'devmgr',
    clientSecret: 'x',
    roles: { ADMIN: ['a'], DEALER: [], VIEWER: [] },
  };
  expect((await daemon.call('PUT', '/api/sso', settings)).code).toBe(200);
  onTestFinished(async () => void (await daemon.call('PUT', '/api/sso', { enabled: false })));
  const begin = (path: string) => daemon.call('POST', path, {}, { token: null });
  return { browser: await begin('/api/auth/sso/start'), terminal: await begin('/api/auth/sso/device') };
}
const away = { status: 503, message: expect.stringContaining('does not respond') };
const failures = () => daemon.logged().match(/"level":50/g);

describe('metadata', () => {
  it.each([
    { issuer: 5 },
    { authorization_endpoint: 'javascript:alert(1)//' },
    { authorization_endpoint: null },
    { scopes_supported: 'openid' },
    { code_challenge_methods_supported: 5 },
    { token_endpoint_auth_methods_supported: 5 },
    { id_token_signing_alg_values_supported: 5 },
  ])('with %j let no one sign in', async metadata => {
    expect((await signInAt(metadata)).browser).toMatchObject(away);
    const { data, status } = await daemon.call('POST', '/api/sso/test');
    expect([status, data.findings]).toEqual([200, expect.any(Array)]);
    expect(failures()).toBeNull();
  });
});

describe('the code for a terminal', () => {
  it.each([
    { expires_in: -5 },
    { expires_in: 'soon' },
    { user_code: 5 },
    { user_code: 'A\u0000B' },
    { user_code: 'A\u001b[2JB' },
  ])('with %j is refused', async device => {
    expect((await signInAt({}, device)).terminal).toMatchObject(away);
    expect(failures()).toBeNull();
  });

  it('lives a day at most', async () => {
    const { terminal } = await signInAt({}, { expires_in: 9e15 });
    expect(Date.parse(terminal.data.expireTime) - Date.now()).toBeLessThanOrEqual(86_400_000);
  });
});
