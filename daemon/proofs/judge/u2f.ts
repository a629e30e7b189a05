/** Judges U2F registrations (FIDO U2F Raw Message Formats 1.2). */

import type { U2fEvidence } from '../../../src/contract/proof.ts';
import type { Finding } from '../../devices/claims.ts';
import { clientDataHash, relyingPartyHash } from '../../devices/client-data.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { firstDer } from './der.ts';
import { checkSignature, ES256 } from './fido-signature.ts';
import { trustedModel } from './fido-trust.ts';
import { fromBase64url, MalformedError } from './malformed.ts';
import { BrokenRule } from './rules.ts';
import type { Question } from './types.ts';

/** A registration in parts. */
interface U2fRegistration {
  readonly publicKey: Uint8Array;
  readonly keyHandle: Uint8Array;
  readonly certificate: Certificate;
  readonly signature: Uint8Array;
}

/** Facts that the evidence proves. Throws BrokenRule or MalformedError. */
export function judgeU2f(evidence: U2fEvidence, question: Question): Finding {
  const { certificate, signature, ...credential } = readRegistration(
    fromBase64url(evidence.registration, 'registration'),
  );
  const hash = clientDataHash(question.registryId, question.serialNumber, question.challenge);
  checkU2fCertificates([certificate]);
  checkSignature(certificate, ES256, u2fSigned({ clientDataHash: hash, ...credential }), signature);
  return u2fFinding([certificate], question);
}

/** Facts that a U2F registration with a valid signature proves. Throws BrokenRule if the certificates are not trusted. */
export function u2fFinding(certificates: readonly Certificate[], question: Question): Finding {
  const { warnings, ...model } = trustedModel({ certificates, aaguid: null }, question);
  const unknown = { aaguid: null, firmware: null, serial: null };
  return { grade: 'model', method: 'u2f', ...unknown, ...model, warnings: [...warnings] };
}

/** Offsets: a reserved byte 05, the public key, the length of the key handle. */
const AT = { publicKey: 1, handleLength: 66, handle: 67 } as const;
/** A signature of ECDSA with P-256 has at most 72 bytes in DER. */
const MAX_SIGNATURE = 72;

/** Reads the response to U2F_REGISTER without its status word. Throws MalformedError. */
export function readRegistration(bytes: Uint8Array): U2fRegistration {
  const malformed = (problem: string) => new MalformedError('U2F registration', problem);
  if (bytes.length < AT.handle || bytes[0] !== 5) throw malformed('it does not begin with 05');
  const publicKey = bytes.subarray(AT.publicKey, AT.handleLength);
  if (publicKey[0] !== 4) throw malformed('its public key is not an uncompressed point');
  const afterHandle = AT.handle + bytes[AT.handleLength]!;
  if (afterHandle === AT.handle || afterHandle >= bytes.length) throw malformed('a key handle of this length');
  const certificate = firstDer(bytes.subarray(afterHandle)).whole;
  const signature = bytes.subarray(afterHandle + certificate.length);
  if (signature.length === 0 || signature.length > MAX_SIGNATURE) throw malformed('a signature of this length');
  return {
    publicKey,
    keyHandle: bytes.subarray(AT.handle, afterHandle),
    certificate: readCertificate(certificate),
    signature,
  };
}

/** Data that a U2F key signs at registration. `site`: SHA-256 of the relying party. */
export function u2fSigned(
  parts: { clientDataHash: Uint8Array; keyHandle: Uint8Array; publicKey: Uint8Array },
  site: Uint8Array = relyingPartyHash(),
): Uint8Array {
  return Buffer.concat([Uint8Array.of(0), site, parts.clientDataHash, parts.keyHandle, parts.publicKey]);
}

/** A U2F attestation has exactly one certificate, which is not one of a CA. */
export function checkU2fCertificates(certificates: readonly Certificate[]): void {
  if (certificates.length === 0) throw new BrokenRule('fido-self');
  if (certificates.length > 1) throw new BrokenRule('fido-certificate', 'U2F has one certificate');
  if (certificates[0]!.ca) throw new BrokenRule('fido-certificate', 'it is the certificate of a CA');
}
