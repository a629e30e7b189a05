/** Signatures of FIDO attestations. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type Certificate, publicKeyOf } from './certificate.ts';
import { BrokenRule } from './rules.ts';
import { signatureWork } from './signature-work.ts';

/** How a COSE algorithm is checked, and which keys it goes with. */
interface Algorithm {
  /** Null: the algorithm has a digest of its own. */
  readonly digest: 'sha256' | 'sha384' | null;
  fits(key: KeyObject): boolean;
}

const curve = (name: string) => (key: KeyObject) =>
  key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === name;

/** COSE algorithm of U2F and of nearly all attestations: ECDSA with P-256 and SHA-256. */
export const ES256 = -7;

/** Algorithms by their COSE number: ES256, EdDSA, ES384, RS256. */
const algorithms: ReadonlyMap<number, Algorithm> = new Map<number, Algorithm>([
  [ES256, { digest: 'sha256', fits: curve('prime256v1') }],
  [-8, { digest: null, fits: key => key.asymmetricKeyType === 'ed25519' }],
  [-35, { digest: 'sha384', fits: curve('secp384r1') }],
  [
    -257,
    {
      digest: 'sha256',
      fits: key => key.asymmetricKeyType === 'rsa' && signatureWork(key) !== null,
    },
  ],
]);

/** Throws BrokenRule unless the certificate's key made this signature with this algorithm. */
export function checkSignature(
  certificate: Certificate,
  algorithm: number,
  data: Uint8Array,
  signature: Uint8Array,
): void {
  const how = algorithms.get(algorithm);
  if (how === undefined) throw new BrokenRule('fido-algorithm', String(algorithm));
  const key = publicKeyOf(certificate);
  if (!how.fits(key)) throw new BrokenRule('fido-certificate', `algorithm ${algorithm} does not match its key`);
  if (!verify(how.digest, data, key, signature)) throw new BrokenRule('fido-signature');
}

/** Throws BrokenRule unless the new credential itself made this signature (self attestation). `point`: its public key, uncompressed. */
export function checkOwnSignature(point: Uint8Array, algorithm: number, data: Uint8Array, signature: Uint8Array): void {
  if (algorithm !== ES256) throw new BrokenRule('fido-algorithm', String(algorithm));
  const text = (from: number, to?: number) => Buffer.from(point.subarray(from, to)).toString('base64url');
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: text(1, 33), y: text(33) }, format: 'jwk' });
  if (!verify('sha256', data, key, signature)) throw new BrokenRule('fido-signature');
}
