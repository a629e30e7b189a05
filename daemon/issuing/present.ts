/** Credentials of devices, as responses show them. */
import { credentialIds, providerIds } from '../../src/contract/ids.ts';
import type { CredentialItem, SshCredential } from '../../src/contract/providers.ts';
import { isSshKey } from '../../src/contract/ssh-key.ts';
import { isoOrNull } from '../base/time.ts';
import type { DeviceRecord } from '../devices/records.ts';
import * as domain from './credential.ts';
import { isHeld } from './key-reset.ts';

/** By what its key is asked whether it has the credential; null if the answer would not be reliable. */
export const storedIn = (credential: domain.CredentialRecord) => {
  const { begun, credentialId: id, issuedAt } = credential;
  return isHeld(credential) && issuedAt !== null && begun?.isReported && id !== null ? { site: begun.rpId, id } : null;
};

/** What an SSH client needs of it; null if it is not an SSH key that is accepted. */
export const sshIn = (credential: domain.CredentialRecord): SshCredential | null => {
  const { begun, credentialId: handle, remoteId: publicKey } = credential;
  if (!isHeld(credential) || publicKey === null || handle === null || !isSshKey(publicKey)) return null;
  return { publicKey, handle, verifyRequired: begun?.isVerified === true };
};

/** A credential, as the list of its device shows it. */
export const presented = (credential: domain.CredentialRecord, device: DeviceRecord): CredentialItem => {
  const { number, provider, account, issuedAt, removedAt } = credential;
  const isOpen = removedAt === null;
  return {
    credentialId: credentialIds.format(number),
    providerId: providerIds.format(provider),
    person: device.userId ?? account,
    createdAt: isoOrNull(issuedAt),
    removedAt: isoOrNull(removedAt),
    pending: isOpen && (issuedAt === null || domain.isToRemove(credential, device)),
  };
};
