/** The credential that a key has made in a proof. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { expectBytes, expectMap, readCbor } from '../../../drivers/protocols/cbor.ts';
import type { Evidence } from '../../../src/contract/proof.ts';
import { pointOf, readAuthenticatorData } from './authenticator-data.ts';
import { fromBase64url, MalformedError } from './malformed.ts';
import { readRegistration } from './u2f.ts';

/** A credential of a key: it is not stored on it, and its id is needed to use it. */
export interface Credential {
  /** Base64url. */
  readonly id: string;
  readonly publicKey: KeyObject;
}

/** The credential in evidence that was judged; null if the method makes none. Throws MalformedError. */
export function credentialOf(evidence: Evidence): Credential | null {
  if (evidence.method === 'scp11b') return null;
  if (evidence.method === 'u2f') {
    const { keyHandle, publicKey } = readRegistration(fromBase64url(evidence.registration, 'registration'));
    return credentialWith(keyHandle, publicKey);
  }
  const object = expectMap(readCbor(fromBase64url(evidence.attestationObject, 'attestation object')), 'attestation');
  const data = readAuthenticatorData(expectBytes(object.get('authData') ?? object.get(2), 'authenticator data'));
  return credentialWith(data.credentialId, pointOf(data.credentialKey));
}

/** A credential with its key as a browser gave it, COSE in base64url; null if it is not a key of P-256. */
export function credentialWithCose(id: string, publicKey: string): Credential | null {
  try {
    const point = pointOf(expectMap(readCbor(Buffer.from(publicKey, 'base64url')), 'credential key'));
    return credentialWith(Buffer.from(id, 'base64url'), point);
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}

/** `point`: an uncompressed point of P-256. */
export function credentialWith(id: Uint8Array, point: Uint8Array): Credential {
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(part => Buffer.from(part).toString('base64url'));
  return {
    id: Buffer.from(id).toString('base64url'),
    publicKey: createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' }),
  };
}
