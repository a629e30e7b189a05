/** Which public keys count, and what checking a signature with them costs: clients send certificates with keys of their choice. */
import type { KeyObject } from 'node:crypto';

/** The keys that count, as part of a sentence. */
export const STRONG_KEYS = 'one of P-256, P-384, P-521, Ed25519 or RSA with 2048 to 4096 bits';

const RSA_BITS = { least: 2048, most: 4096 } as const;
/** Nearly all keys have this exponent. A larger one makes a check up to a hundred times as slow. */
const MOST_EXPONENT = 65_537n;

/** Measured; other curves take as long as P-521 or longer. */
const curveWork: ReadonlyMap<string, number> = new Map([
  ['prime256v1', 1],
  ['secp384r1', 10],
  ['secp521r1', 25],
]);

/** The work of one signature check with this key: 1 is that with P-256, about 0.1 ms. Null if such keys do not count. */
export function signatureWork({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): number | null {
  if (asymmetricKeyType === 'ed25519') return 1;
  if (asymmetricKeyType === 'ec') return curveWork.get(asymmetricKeyDetails.namedCurve ?? '') ?? null;
  if (asymmetricKeyType !== 'rsa') return null;
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails;
  const fits = modulusLength >= RSA_BITS.least && modulusLength <= RSA_BITS.most && publicExponent <= MOST_EXPONENT;
  return fits ? 1 : null;
}
