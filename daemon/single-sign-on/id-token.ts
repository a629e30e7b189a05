/** Verifies tokens of a provider. No I/O except to read its keys. Every failure is one error; refused tokens are not used. */
import { createHash } from 'node:crypto';
import { type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ssoBounds } from '../../src/contract/limits.ts';
import { namesIn } from '../../src/contract/names.ts';
import { textFault } from '../../src/contract/text.ts';
import { TokenRefused } from '../base/errors.ts';
import type { SignInClaims } from './records.ts';

/** Only algorithms with a public key: anyone who has the client secret could make a token that is signed with it. */
const algorithms = namesIn('RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519');

/** Seconds by which the clocks of provider and daemon may differ. */
export const TOLERANCE = 60;
const MAX_TOKEN = 64 * 1024;
/** Characters of one text and number of groups: more than any provider sends. */
const most = { text: 1000, groups: 5000 } as const;

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Required claims of a token. `now`: milliseconds since 1970. */
export interface TokenRules {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: JWTVerifyGetKey;
  /** Algorithms that the provider announces; all of them if it announces none. */
  readonly algorithms: readonly string[] | undefined;
  readonly now: number;
}

/** Claims of an ID token. */
export interface IdToken extends SignInClaims {
  readonly sub: string;
  readonly sid: string | null;
  readonly name: string | null;
  /** Null if the token has no such claim. */
  readonly groups: readonly string[] | null;
  /** The provider has left the groups out because they are too many. */
  readonly isOverage: boolean;
}

/** `nonce`: null for a token of a renewal or of a device sign-in, which has none. `accessToken`: the one that came with it. */
export async function judgeIdToken(
  text: string,
  rules: TokenRules,
  {
    nonce,
    accessToken,
    groupsClaim,
  }: { readonly nonce: string | null; readonly accessToken: string; readonly groupsClaim: string },
): Promise<IdToken> {
  const { claims, algorithm } = await judged(text, rules);
  const { aud, azp } = claims;
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined)
    throw new TokenRefused('several audiences without azp');
  if (azp !== undefined && azp !== rules.clientId) throw new TokenRefused('azp names another client');
  if (nonce !== null && claims.nonce !== nonce) throw new TokenRefused('another nonce');
  if (claims.at_hash !== undefined && claims.at_hash !== hashFor(algorithm, accessToken))
    throw new TokenRefused('at_hash of another access token');
  if (claims.events !== undefined) throw new TokenRefused('a logout token in place of an ID token');
  const sub = lineOf('sub', claims.sub);
  if (sub === null) throw new TokenRefused('no sub');
  return {
    sub,
    sid: lineOf('sid', claims.sid),
    name: lineOf('preferred_username', claims.preferred_username) ?? lineOf('upn', claims.upn),
    acr: textOf(claims.acr),
    amr: textsOf(claims.amr) ?? [],
    authTime: timeOf(claims.auth_time, rules.now),
    ...groupsIn(claims, groupsClaim),
  };
}

/** The groups in the claims of a token or of the person. A claim with one group may be a text. */
export function groupsIn(
  claims: Readonly<Record<string, unknown>>,
  claim: string,
): Pick<IdToken, 'groups' | 'isOverage'> {
  const names = claims._claim_names;
  const isOverage = typeof names === 'object' && names !== null && claim in names;
  return {
    groups: textsOf(claims[claim]),
    isOverage: isOverage || claims.hasgroups === true || claims.hasgroups === 'true',
  };
}

/** Scope of a logout token: a session, or all of a person. */
export interface LogoutToken {
  readonly sub: string | null;
  readonly sid: string | null;
  /** Names the token. */
  readonly id: string;
}

/** OpenID Connect Back-Channel Logout 1.0, 2.6. */
export async function judgeLogoutToken(text: string, rules: TokenRules): Promise<LogoutToken> {
  const { claims } = await judged(text, rules);
  const { events, nonce, iat, jti } = claims;
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, LOGOUT_EVENT))
    throw new TokenRefused('not a logout token');
  if (nonce !== undefined) throw new TokenRefused('a logout token with a nonce');
  if (typeof iat !== 'number' || iat < rules.now / 1000 - ssoBounds.logoutSeconds)
    throw new TokenRefused('an old logout token');
  const [sub, sid, id] = [lineOf('sub', claims.sub), lineOf('sid', claims.sid), lineOf('jti', jti)];
  if (id === null) throw new TokenRefused('no jti');
  if (sub === null && sid === null) throw new TokenRefused('neither sub nor sid');
  return { sub, sid, id };
}

/** Signature, algorithm, iss, aud, exp, nbf and iat. */
async function judged(
  text: string,
  { issuer, clientId: audience, keys, algorithms: offered, now }: TokenRules,
): Promise<{ readonly claims: JWTPayload; readonly algorithm: string }> {
  if (text.length > MAX_TOKEN) throw new TokenRefused('too long');
  const accepted = algorithms.filter(name => offered?.includes(name) ?? true);
  try {
    const { payload, protectedHeader } = await jwtVerify(text, keys, {
      issuer,
      audience,
      algorithms: accepted,
      clockTolerance: TOLERANCE,
      currentDate: new Date(now),
      requiredClaims: ['iss', 'aud', 'exp', 'iat'],
    });
    if (payload.iat! > now / 1000 + TOLERANCE) throw new TokenRefused('issued in the future');
    // Accepts only the canonical encoding: the last character of a base64url text can have unused bits.
    if (!isCanonical(text)) throw new TokenRefused('not in its only form');
    return { claims: payload, algorithm: protectedHeader.alg };
  } catch (error) {
    if (error instanceof TokenRefused || !isJoseError(error)) throw error;
    throw new TokenRefused(error.message, { cause: error });
  }
}

/** Errors of the library have codes; errors of reading the keys have none or are a `ProviderAway`. */
const isJoseError = (error: unknown): error is Error =>
  error instanceof TypeError || (error instanceof Error && `${(error as { code?: unknown }).code}`.startsWith('ERR_J'));

const isCanonical = (text: string): boolean =>
  text.split('.').every(part => Buffer.from(part, 'base64url').toString('base64url') === part);

/** The left half of the digest that the algorithm of the token uses (OpenID Connect Core, 3.1.3.6). */
function hashFor(algorithm: string, accessToken: string): string {
  const bits = /^(?:EdDSA|Ed25519)$/.test(algorithm) ? '512' : algorithm.slice(-3);
  const digest = createHash(`sha${bits}`).update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= most.text ? value : null;

/** A text of one line, as in a body. Refuses one with characters that no text may contain. */
function lineOf(claim: string, value: unknown): string | null {
  const text = textOf(value);
  const fault = text === null ? null : textFault(text, 'line');
  if (fault !== null) throw new TokenRefused(`the claim ${claim} ${fault}`);
  return text;
}

function textsOf(value: unknown): string[] | null {
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list)) return null;
  // No setting can name one with other characters.
  return list
    .filter((item): item is string => textOf(item) !== null && textFault(item, 'line') === null)
    .slice(0, most.groups);
}

const timeOf = (value: unknown, now: number): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.floor(value), Math.floor(now / 1000)) : null;
