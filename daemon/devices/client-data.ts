/** Data that a FIDO authenticator signs for devmgr. */
import { createHash } from 'node:crypto';
import { relyingParty as RELYING_PARTY } from '../../src/contract/key-values.ts';

export { RELYING_PARTY };

/** SHA-256 of the relying party: the first 32 bytes of what is signed. */
export const relyingPartyHash = (): Uint8Array => createHash('sha256').update(RELYING_PARTY).digest();

/** Binds what a key makes or signs with its credential for a registry to that relying party and a challenge. */
export const identityDataHash = (relyingParty: string, challenge: Uint8Array): Uint8Array =>
  createHash('sha256').update(`devmgr-identity-v1\0${relyingParty}\0`).update(challenge).digest();

/** Binds an attestation to this program, a registry, a serial number and a challenge. The parts cannot contain a zero byte. */
export function clientDataHash(registryId: string, serialNumber: string, challenge: Uint8Array): Uint8Array {
  if (`${registryId}${serialNumber}`.includes('\0'))
    throw new RangeError('a zero byte in a registry id or a serial number');
  return createHash('sha256').update(`devmgr-proof-v1\0${registryId}\0${serialNumber}\0`).update(challenge).digest();
}
