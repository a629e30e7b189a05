/** When a token has to be renewed, by the claims of the token itself. Nothing is trusted because of it. */
import { objectIn } from '../../contract/json-object.ts';

/** A token is renewed before use if less than this is left of its life, or less than a tenth of it. */
const minLeftMs = 60_000;
const shareLeft = 0.1;

interface TokenClaims {
  readonly iat?: number;
  readonly exp?: number;
}

const claimsOf = (token: string): TokenClaims =>
  objectIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) ?? {};

/** When a token expires, ISO 8601; null if it does not say so. */
export function expiryOf(token: string): string | null {
  const { exp } = claimsOf(token);
  return typeof exp === 'number' ? new Date(exp * 1000).toISOString() : null;
}

/** Milliseconds since 1970 from which a token should be renewed; infinite if it does not say when it expires, as a service token. */
export function renewalTime(token: string): number {
  const { iat, exp } = claimsOf(token);
  if (typeof exp !== 'number') return Number.POSITIVE_INFINITY;
  const life = typeof iat === 'number' ? (exp - iat) * 1000 : 0;
  return exp * 1000 - Math.max(minLeftMs, life * shareLeft);
}
