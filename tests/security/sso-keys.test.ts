/** The keys of a provider: what is read of them, and how often, for any number of tokens. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { ProviderAway, TokenRefused } from '../../daemon/base/errors.ts';
import { inspect } from '../../daemon/single-sign-on/inspection.ts';
import { Provider } from '../../daemon/single-sign-on/provider.ts';
import { answering, flood, json } from '../support/http-servers.ts';

const start = Date.UTC(2026, 10, 23, 12);
const minute = 60_000;
type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** A provider that shows `keys`, or what `instead` sends for them. */
async function setUp() {
  const state = {
    now: start,
    keys: [] as JWK[],
    requests: { discovery: 0, keys: 0 },
    /** Bytes of keys that were written. */
    written: () => 0,
    instead: null as string | 'flood' | null,
    isBroken: false,
  };
  const { url } = await answering((request, response) => {
    const isDiscovery = request.url?.includes('.well-known') === true;
    state.requests[isDiscovery ? 'discovery' : 'keys']++;
    state.written = () => request.socket.bytesWritten;
    response.writeHead(state.isBroken ? 500 : 200, json);
    if (isDiscovery)
      response.end(
        JSON.stringify({ issuer: url, jwks_uri: `${url}/keys`, id_token_signing_alg_values_supported: ['ES256'] }),
      );
    else if (state.instead === 'flood') flood(response);
    else response.end(state.instead ?? JSON.stringify({ keys: state.keys }));
  });
  const config = { issuer: url, clientId: 'devmgr', secret: 's', scopes: null, groupsClaim: 'groups' };
  const provider = new Provider(config, { allowed: [], now: () => state.now });
  const logoutWith = (key: PrivateKey, kid: string) =>
    new SignJWT({ sub: 's-ana', jti: '1', events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(url)
      .setAudience('devmgr')
      .setIssuedAt(state.now / 1000)
      .setExpirationTime(state.now / 1000 + 60)
      .sign(key);
  const rotate = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    state.keys = [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }];
    return privateKey;
  };
  return { state, provider, logoutWith, rotate };
}

it('reads the keys at most six times a minute for a thousand tokens with unknown keys, and refuses none as not valid that it cannot judge', async () => {
  const { state, provider, logoutWith, rotate } = await setUp();
  const stranger = await rotate('a');
  await rotate('b');
  const token = await logoutWith(stranger, 'unknown');
  // The first read is that of all keys.
  for (let i = 0; i < 5; i++) await expect(provider.logoutToken(token)).rejects.toThrow(TokenRefused);
  const newest = await rotate('c');
  await expect(provider.logoutToken(await logoutWith(newest, 'c'))).rejects.toThrow(ProviderAway);
  const together = Array.from({ length: 1000 }, () => provider.logoutToken(token));
  for (const { reason } of (await Promise.allSettled(together)) as PromiseRejectedResult[])
    expect(reason).toBeInstanceOf(ProviderAway);
  expect(state.requests).toEqual({ discovery: 1, keys: 6 });
  state.now += minute;
  expect(await provider.logoutToken(await logoutWith(newest, 'c'))).toMatchObject({ sub: 's-ana' });
  expect(state.requests.keys).toBe(7);
});

it('asks a provider that fails six times a minute, however many tokens arrive', async () => {
  const { state, provider, logoutWith, rotate } = await setUp();
  const key = await rotate('a');
  const token = await logoutWith(key, 'a');
  const failsFor = async (times: number) => {
    for (let i = 0; i < times; i++) await expect(provider.logoutToken(token)).rejects.toThrow(ProviderAway);
  };
  state.isBroken = true;
  await failsFor(500);
  expect(state.requests).toEqual({ discovery: 6, keys: 0 });
  [state.isBroken, state.instead] = [false, '{"keys":[]}'];
  state.now += minute;
  await failsFor(500);
  expect(state.requests).toEqual({ discovery: 7, keys: 6 });
  state.instead = null;
  state.now += minute;
  expect(await provider.logoutToken(await logoutWith(key, 'a'))).toMatchObject({ sub: 's-ana' });
});

it('reads 256 KiB of keys that never end, and no more than 100 keys', async () => {
  const { state, provider, logoutWith, rotate } = await setUp();
  const token = await logoutWith(await rotate('a'), 'a');
  state.instead = 'flood';
  await expect(provider.logoutToken(token)).rejects.toThrow('more than 262144 bytes');
  // The size of the buffers of the connection.
  expect(state.written()).toBeLessThan(16 * 1024 * 1024);
  state.instead = JSON.stringify({ keys: Array.from({ length: 101 }, () => state.keys[0]) });
  await expect(provider.logoutToken(token)).rejects.toThrow('shows 101 keys');
});

it('refuses a key ten minutes after the provider has withdrawn it', async () => {
  const { state, provider, logoutWith, rotate } = await setUp();
  const withdrawn = await rotate('a');
  await provider.logoutToken(await logoutWith(withdrawn, 'a'));
  await rotate('b');
  state.now += 10 * minute;
  await expect(provider.logoutToken(await logoutWith(withdrawn, 'a'))).rejects.toThrow(TokenRefused);
});

it.each(['null', '[]', '<html>', '{"keys":{}}', '{"keys":[]}'])(
  'reports an answer without keys as a problem of the provider: %s',
  async instead => {
    const { state, provider } = await setUp();
    state.instead = instead;
    const { ok, findings } = await inspect(provider, 'https://registry.test/api/auth/sso/callback');
    expect(ok).toBe(false);
    expect(findings[0]!.detail).toContain('the provider shows');
  },
);
