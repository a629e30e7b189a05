/**
 * A credential of a device at a provider. Whether a credential must be removed is not stored. It follows from the state of the device, so
 * that no operation that locks a device can forget it. Decisions only, no I/O.
 */
import { credentialIds, personIds, providerIds } from '../../src/contract/ids.ts';
import { namesIn } from '../../src/contract/names.ts';
import { isSshKey } from '../../src/contract/ssh-key.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { newSalt, saltedDigest } from '../store/digest.ts';
import type { Entry } from '../store/journal.ts';

/** Request for a credential, which the answer of the key is compared with. */
export interface BegunCredential {
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
  /** Ids of credentials that the person had at the provider, as base64url; absent in records of earlier versions. */
  readonly excluded?: readonly string[];
  /** Whether the provider requires user verification; absent in records of earlier versions. */
  readonly isVerified?: boolean;
  /** Whether the key has reported it without its PIN after it was made; absent if it has not, or was not asked. */
  readonly isReported?: boolean;
  /** Data that the provider needs to finish it. */
  readonly handle: string | null;
}

/** A credential as it is stored. */
export interface CredentialRecord {
  /** The number in the id CRD-n: from 1, without gaps. */
  readonly number: number;
  readonly device: number;
  readonly provider: number;
  /** Name of the person at the provider: its own id if it has one, which no change of the name changes. */
  readonly account: string;
  /** Its name at the provider: a lost answer is found by it. */
  readonly label: string;
  /** Null while it is not begun: see `BegunCredential`. */
  readonly begun: BegunCredential | null;
  /** Id that the key gave it, as base64url; null before the key has made it. */
  readonly credentialId: string | null;
  /** Its id at the provider; null before the provider has accepted it. */
  readonly remoteId: string | null;
  /** When it was begun. This and the other times: milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  readonly issuedAt: number | null;
  /** When it was given up although a lost request may still register it: it has to be removed there. Null for any other. */
  readonly uncertainAt: number | null;
  readonly removedAt: number | null;
  /** Random; without it the digests in the journal show nothing. Null in records of earlier versions, which have no digest. */
  readonly salt: string | null;
  /** Ascends with each change, from 1. */
  readonly version: number;
}

/** Fields that its entries prove from its beginning, and those that they prove once the provider has accepted it. */
export const begunFields = namesIn('device provider account') satisfies readonly (keyof CredentialRecord)[];
const issuedFields = namesIn('label credentialId remoteId') satisfies readonly (keyof CredentialRecord)[];
/** The fields that its digest covers, and those that it depends on. */
export const credentialFields = [...begunFields, ...issuedFields, 'issuedAt', 'salt'] as const;

/** The digest of a credential, which entries of the journal have instead of the account; null without a salt. */
export function credentialDigest(credential: Pick<CredentialRecord, (typeof credentialFields)[number]>): string | null {
  const fields = credential.issuedAt === null ? begunFields : [...begunFields, ...issuedFields];
  const values = JSON.stringify(fields.map(field => credential[field]));
  return credential.salt === null ? null : saltedDigest(credential.salt, values);
}

/** Begins a credential. */
interface CredentialAdd {
  readonly kind: 'credential.add';
  readonly credential: Pick<CredentialRecord, (typeof begunFields)[number] | 'label' | 'begun' | 'salt'>;
  readonly entry: Entry;
}

/** Changes a credential. A `Conflict` if its version is not `before`. */
interface CredentialSet {
  readonly kind: 'credential.set';
  readonly credential: number;
  readonly before: number;
  readonly set: Partial<Omit<CredentialRecord, 'number' | 'device' | 'provider' | 'createdAt' | 'version'>>;
  /** Null for a step that only this registry needs to know. */
  readonly entry: Entry | null;
}

/** Every change of a credential. */
export type CredentialChange = CredentialAdd | CredentialSet;

/** Whether the provider may accept it although it must not. Hosts ask the registry for an SSH key at each login: a lock leaves it. */
export const isToRemove = (
  { credentialId, remoteId, uncertainAt, removedAt }: CredentialRecord,
  { status }: Pick<DeviceRecord, 'status'>,
): boolean =>
  credentialId !== null &&
  removedAt === null &&
  (uncertainAt !== null || (status !== 'ACTIVE' && (status === 'DEACTIVATED' || !isSshKey(remoteId))));

/** Begins a credential. The journal names the person by reference only. */
export function beginCredential(
  fields: Omit<CredentialAdd['credential'], 'salt'>,
  person: number | null,
): CredentialAdd {
  const credential = { ...fields, salt: newSalt() };
  return {
    kind: 'credential.add',
    credential,
    entry: { type: 'CREDENTIAL_BEGUN', detail: begunDetail(credential, person) },
  };
}

/** Begins one that was not finished again, perhaps for another person. */
export function beginAgain(
  before: CredentialRecord,
  fields: Pick<CredentialRecord, 'account' | 'label' | 'begun'>,
  person: number | null,
): CredentialSet {
  const set = { ...fields, salt: newSalt() };
  const detail = begunDetail({ ...before, ...set }, person);
  return { ...noteStep(before, set), entry: { type: 'CREDENTIAL_BEGUN_AGAIN', detail } };
}

const begunDetail = (begun: CredentialAdd['credential'], person: number | null) => ({
  providerId: providerIds.format(begun.provider),
  ...(person === null ? {} : { personId: personIds.format(person) }),
  credentialDigest: credentialDigest({ ...begun, credentialId: null, remoteId: null, issuedAt: null }),
});

/** A step between the beginning and the end. */
export const noteStep = ({ number, version }: CredentialRecord, set: CredentialSet['set']): CredentialSet => ({
  kind: 'credential.set',
  credential: number,
  before: version,
  set,
  entry: null,
});

/** Another one takes its place; it stays recorded until the provider can no longer register it. */
export const givenUp = (credential: CredentialRecord, at: number): CredentialSet =>
  noteStep(credential, { begun: null, uncertainAt: at });

/** The provider has accepted it. */
export const issued = (credential: CredentialRecord, remoteId: string, at: number): CredentialSet =>
  finished(credential, 'CREDENTIAL_ISSUED', { remoteId, issuedAt: at });

/** The provider does not accept it any more, or never has. */
export const removed = (credential: CredentialRecord, at: number): CredentialSet =>
  finished(credential, 'CREDENTIAL_REMOVED', { removedAt: at });

function finished(
  credential: CredentialRecord,
  type: 'CREDENTIAL_ISSUED' | 'CREDENTIAL_REMOVED',
  set: CredentialSet['set'],
): CredentialSet {
  const detail = {
    credentialId: credentialIds.format(credential.number),
    providerId: providerIds.format(credential.provider),
    ...(type === 'CREDENTIAL_ISSUED' ? { credentialDigest: credentialDigest({ ...credential, ...set }) } : {}),
  };
  return { ...noteStep(credential, set), entry: { type, detail } };
}
