/** The answer of a FIDO key to a challenge that a daemon gave out over its interface. */
import { clientDataHash, RELYING_PARTY, relyingPartyHash } from '../../daemon/devices/client-data.ts';
import { type AttestationKind, TestAuthenticator } from './test-authenticator.ts';
import type { TestCertificate } from './test-pki.ts';

/** A challenge as the interface has it. */
export interface Challenged {
  readonly proofId: string;
  readonly challenge: string;
  readonly registryId: string;
  readonly ephemeralPublicKey: string;
  readonly expiresAt: string;
}

/** The AAGUID of the keys that answer here. */
export const ANSWERING_AAGUID = '11111111-2222-3333-4444-555555555555';

/** Evidence of a genuine key under `root` with this serial number. */
export function fidoAnswer(
  root: TestCertificate,
  serialNumber: string,
  asked: Challenged,
  kind: AttestationKind = 'packed',
) {
  const hash = clientDataHash(asked.registryId, serialNumber, Buffer.from(asked.challenge, 'base64url'));
  const authenticator = new TestAuthenticator({ root, aaguid: ANSWERING_AAGUID, kind });
  const object = authenticator.attestationObject(RELYING_PARTY, hash);
  return { method: 'fido', attestationObject: object.toString('base64url') };
}

/** Evidence by U2F of a genuine key under `root` with this serial number: it proves no AAGUID. */
export function u2fAnswer(root: TestCertificate, serialNumber: string, asked: Challenged) {
  const hash = clientDataHash(asked.registryId, serialNumber, Buffer.from(asked.challenge, 'base64url'));
  const options = { root, aaguid: ANSWERING_AAGUID, kind: 'fido-u2f', certifiedAaguid: null } as const;
  const registration = new TestAuthenticator(options).u2fRegister(hash, relyingPartyHash());
  return { method: 'u2f', registration: Buffer.from(registration).toString('base64url') };
}
