/** The reset of a key between its beginning and its outcome: a document that the journal proves. Decisions only, no I/O. */
import { deviceIds } from '../../src/contract/ids.ts';
import { type DocumentRecord, type DocumentSet, replace } from '../store/document.ts';
import { type CredentialChange, type CredentialRecord, givenUp, noteStep } from './credential.ts';

/** The document with the reset of a device, by its number. */
export const resetDocument = (device: number): `reset:${number}` => `reset:${device}`;

/** A reset whose outcome is not recorded. */
export interface OpenReset {
  /** Milliseconds since 1970 (UTC). */
  readonly begunAt: number;
  readonly hadPin: boolean;
  /** Numbers of the credentials that the device had then. */
  readonly credentials: readonly number[];
}

/** The reset in a document; null if none is open. */
export const resetIn = (document: DocumentRecord | null): OpenReset | null =>
  document && (JSON.parse(document.value) as OpenReset | null);

/** Begins it, or ends it with null. `before`: version of the document. */
export const setReset = (
  device: number,
  before: number,
  reset: OpenReset | null,
  type: 'KEY_RESET_BEGUN' | 'KEY_RESET' | 'KEY_RESET_CANCELED',
): DocumentSet =>
  replace({ name: resetDocument(device), version: before }, JSON.stringify(reset), {
    type,
    detail: { deviceId: deviceIds.format(device) },
  });

/** Whether a credential is neither removed nor given up. */
export const isHeld = ({ removedAt, uncertainAt }: CredentialRecord): boolean =>
  removedAt === null && uncertainAt === null;

/** The key no longer has these: each has to be removed at its provider; one that the key has not made begins again. */
export const erased = (
  credentials: readonly CredentialRecord[],
  reset: OpenReset,
  at: number,
): readonly CredentialChange[] =>
  credentials
    .filter(one => isHeld(one) && reset.credentials.includes(one.number))
    .map(one => (one.credentialId === null ? noteStep(one, { begun: null }) : givenUp(one, at)));
