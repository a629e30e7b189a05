/** When a token ends, as far as it says so itself. Nothing is trusted on its word. */

/** A token with less life than this left, or than a tenth of its whole life, is renewed before it is used. */
const leastMs = 60_000;
const shareLeft = 0.1;

interface Claims {
  readonly iat?: number;
  readonly exp?: number;
}

function claimsOf(token: string): Claims {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}

/** Milliseconds since 1970 from which on a token should be renewed; infinite where it does not say when it ends. */
export function dueAt(token: string): number {
  const { iat, exp } = claimsOf(token);
  if (typeof exp !== 'number') return Number.POSITIVE_INFINITY;
  const life = typeof iat === 'number' ? (exp - iat) * 1000 : 0;
  return exp * 1000 - Math.max(leastMs, life * shareLeft);
}
