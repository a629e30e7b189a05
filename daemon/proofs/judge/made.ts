/** The credential that a key has made. Who has certified the key does not matter here. */
import { createHash } from 'node:crypto';
import { expectBytes, expectMap, readCbor } from '../../../drivers/protocols/cbor.ts';
import type { IdentityEvidence } from '../../../src/contract/identity-shapes.ts';
import { pointOf, ZERO_AAGUID } from './authenticator-data.ts';
import { same } from './certificate.ts';
import { attestationIn, x5cOf } from './fido.ts';
import { checkOwnSignature, checkSignature, ES256 } from './fido-signature.ts';
import { fromBase64url } from './malformed.ts';
import { BrokenRule } from './rules.ts';
import { readRegistration, u2fSigned } from './u2f.ts';

/** For which relying party, and the hash that the key signs. */
export interface MadeFor {
  readonly relyingParty: string;
  readonly clientDataHash: Uint8Array;
}

/** A credential, as its key has made it. Bytes are base64url. */
export interface MadeCredential {
  readonly credentialId: string;
  /** COSE key. */
  readonly publicKey: string;
  readonly algorithm: number;
  /** Zeros for a key that has none. */
  readonly aaguid: string;
}

/** SHA-256 of a text. */
export const hashOf = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** The credential in the evidence. Throws BrokenRule if it is for another relying party or hash, and MalformedError. */
export const madeIn = (evidence: IdentityEvidence, wanted: MadeFor): MadeCredential =>
  evidence.method === 'u2f' ? registered(evidence, wanted) : attested(evidence, wanted);

function registered(
  { registration }: Extract<IdentityEvidence, { method: 'u2f' }>,
  { relyingParty, clientDataHash }: MadeFor,
): MadeCredential {
  const { certificate, signature, ...made } = readRegistration(fromBase64url(registration, 'registration'));
  const signed = u2fSigned({ clientDataHash, ...made }, hashOf(relyingParty));
  checkSignature(certificate, ES256, signed, signature);
  return madeWith(made.keyHandle, made.publicKey, ZERO_AAGUID);
}

function attested(evidence: Extract<IdentityEvidence, { method: 'fido' }>, request: MadeFor): MadeCredential {
  const { format, statement, signedData, data } = attestationIn(evidence);
  const { relyingPartyHash, touched, credentialId, credentialKey, aaguid } = data;
  const site = hashOf(request.relyingParty);
  if (!same(relyingPartyHash, site)) throw new BrokenRule('fido-relying-party');
  if (!touched) throw new BrokenRule('fido-touch');
  const point = pointOf(credentialKey);
  if (format !== 'none') {
    const [leaf] = x5cOf(statement);
    const signature = expectBytes(statement.get('sig'), 'signature');
    const { clientDataHash } = request;
    if (format === 'fido-u2f' && leaf)
      checkSignature(
        leaf,
        ES256,
        u2fSigned({ clientDataHash, keyHandle: credentialId, publicKey: point }, site),
        signature,
      );
    else if (format === 'packed') {
      const [algorithm, signed] = [Number(statement.get('alg')), Buffer.concat([signedData, clientDataHash])];
      if (leaf) checkSignature(leaf, algorithm, signed, signature);
      else checkOwnSignature(point, algorithm, signed, signature);
    } else throw new BrokenRule('fido-format', format.slice(0, 32));
  }
  return madeWith(credentialId, point, aaguid);
}

/** A COSE key for ES256 (RFC 9053), before the coordinates: every other byte of it is always the same. */
const COSE = { x: Buffer.from('a5010203262001215820', 'hex'), y: Buffer.from('225820', 'hex') } as const;

/** `point`: an uncompressed point of P-256. */
const madeWith = (id: Uint8Array, point: Uint8Array, aaguid: string): MadeCredential => ({
  credentialId: Buffer.from(id).toString('base64url'),
  publicKey: Buffer.concat([COSE.x, point.subarray(1, 33), COSE.y, point.subarray(33)]).toString('base64url'),
  algorithm: ES256,
  aaguid,
});

/** The point of a stored public key. */
export const pointIn = (publicKey: string): Uint8Array =>
  pointOf(expectMap(readCbor(fromBase64url(publicKey, 'public key')), 'public key'));
