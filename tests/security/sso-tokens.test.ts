/** Tokens of a provider that were altered: none is accepted, whatever was changed and with any key. */
import { createHash, createHmac } from 'node:crypto';
import { createLocalJWKSet, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { TokenRefused } from '../../daemon/base/errors.ts';
import { judgeIdToken, judgeLogoutToken, type TokenRules } from '../../daemon/single-sign-on/id-token.ts';
import { mulberry } from '../support/mulberry.ts';

const now = Date.UTC(2026, 10, 23, 12);
const seconds = now / 1000;
const accessToken = 'an access token';
const nonce = 'the nonce';
type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
let pair: Pair;
let other: Pair;
let publicPem = '';
let rules: TokenRules;
beforeAll(async () => {
  [pair, other] = await Promise.all([generateKeyPair('ES256', { extractable: true }), generateKeyPair('ES256')]);
  publicPem = await exportSPKI(pair.publicKey);
  const keys = createLocalJWKSet({
    keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'a', alg: 'ES256', use: 'sig' }],
  });
  rules = { issuer: 'https://id.test', clientId: 'devmgr', keys, algorithms: ['ES256'], now };
});

const plain: JWTPayload = {
  iss: 'https://id.test',
  aud: 'devmgr',
  sub: 's-ana',
  iat: seconds - 5,
  exp: seconds + 300,
  nonce,
  at_hash: createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url'),
  groups: ['keys-admins'],
};
const signed = (payload: JWTPayload, header: object = {}, key: Pair['privateKey'] = pair.privateKey) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'a', ...header }).sign(key);
const expected = { nonce, accessToken, groupsClaim: 'groups' };
const judge = (text: string) => judgeIdToken(text, rules, expected);

describe('an ID token', () => {
  it('is accepted as the provider has made it', async () => {
    expect(await judge(await signed(plain))).toMatchObject({ sub: 's-ana', groups: ['keys-admins'], isOverage: false });
  });

  it.each<[string, object]>([
    ['of another issuer', { iss: 'https://id.test/' }],
    ['for another client', { aud: 'other' }],
    ['for several clients, without azp', { aud: ['devmgr', 'other'] }],
    ['with another azp', { azp: 'other' }],
    ['that has expired', { exp: seconds - 61 }],
    ['that is not valid yet', { nbf: seconds + 61 }],
    ['that was issued in the future', { iat: seconds + 61 }],
    ['with another nonce', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['of another access token', { at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    ['with at_hash that is not a text', { at_hash: null }],
    ['without sub', { sub: undefined }],
    ['with an empty sub', { sub: '' }],
    ['without exp', { exp: undefined }],
    ['without iat', { iat: undefined }],
    ['that is a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ])('%s is refused', async (_name, change) => {
    await expect(judge(await signed({ ...plain, ...change }))).rejects.toThrow(TokenRefused);
  });

  it('is refused without a signature, with the public key as a secret, and with another key', async () => {
    const [head, body] = (await signed(plain)).split('.') as [string, string];
    const header = (of: object) => Buffer.from(JSON.stringify(of)).toString('base64url');
    const hs = `${header({ alg: 'HS256', kid: 'a' })}.${body}`;
    const forged = [
      `${header({ alg: 'none' })}.${body}.`,
      `${head}.${body}.`,
      `${hs}.${createHmac('sha256', publicPem).update(hs).digest('base64url')}`,
      await signed(plain, {}, other.privateKey),
      await signed(plain, { kid: 'b' }),
      await signed(plain, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'),
      await signed(plain, { jwk: await exportJWK(other.publicKey) }, other.privateKey),
    ];
    for (const text of forged) await expect(judge(text)).rejects.toThrow(TokenRefused);
  });

  it('is refused in 10,000 altered forms', { timeout: 60_000 }, async () => {
    const text = await signed(plain);
    const random = mulberry(20261123);
    const below = (most: number) => Math.floor(random() * most);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const letter = () => alphabet[below(alphabet.length)]!;
    const changes: ((at: number) => string)[] = [
      at => text.slice(0, at) + letter() + text.slice(at + 1),
      at => text.slice(0, at) + text.slice(at + 1),
      at => text.slice(0, at) + letter() + text.slice(at),
      at => text.slice(0, at),
      at => text.slice(0, at) + text.slice(at).toUpperCase(),
      at => `${text}${text.slice(at)}`,
      at => `${text.slice(0, at)}=${text.slice(at)}`,
      at => `${text.slice(0, at)} ${text.slice(at)}`,
      at => text.slice(0, at) + String.fromCodePoint(below(0xd7ff)) + text.slice(at + 1),
      at => [...text.split('.').slice(1), text.split('.')[at % 3]].join('.'),
    ];
    let refused = 0;
    for (let i = 0; i < 10_000; ) {
      const altered = changes[below(changes.length)]!(below(text.length));
      if (altered === text) continue;
      i++;
      const found = await judge(altered).then(
        () => altered,
        error => (error instanceof TokenRefused ? null : error),
      );
      expect(found).toBeNull();
      refused++;
    }
    expect(refused).toBe(10_000);
  });
});

describe('a logout token', () => {
  const logout = {
    iss: 'https://id.test',
    aud: 'devmgr',
    iat: seconds,
    exp: seconds + 60,
    jti: '1',
    sub: 's-ana',
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };

  it('is accepted as the provider has made it', async () => {
    expect(await judgeLogoutToken(await signed(logout), rules)).toEqual({ sub: 's-ana', sid: null, id: '1' });
  });

  it.each<[string, object]>([
    ['with a nonce', { nonce: 'n' }],
    ['without the event', { events: {} }],
    ['with events that are not an object', { events: 'http://schemas.openid.net/event/backchannel-logout' }],
    ['without sub and sid', { sub: undefined }],
    ['without jti', { jti: undefined }],
    ['from an hour before', { iat: seconds - 3600 }],
    ['for another client', { aud: 'other' }],
  ])('%s is refused', async (_name, change) => {
    await expect(judgeLogoutToken(await signed({ ...logout, ...change }), rules)).rejects.toThrow(TokenRefused);
  });

  it('does not sign anyone in', async () => {
    await expect(judge(await signed({ ...logout, nonce }))).rejects.toThrow(TokenRefused);
  });
});
