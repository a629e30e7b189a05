/** The credential by which a key is recognized as its device: the record and its changes. Decisions only, no I/O. */

import type { identities, numberSources } from '../../src/contract/key-values.ts';
import { namesIn } from '../../src/contract/names.ts';
import { digest } from '../store/digest.ts';
import type { Entry } from '../store/journal.ts';

/** A credential as it is stored. Bytes are base64url; times are milliseconds since 1970 (UTC). */
export interface IdentityRecord {
  /** From 1, without gaps. */
  readonly number: number;
  readonly device: number;
  readonly credentialId: string;
  /** COSE key. */
  readonly publicKey: string;
  /** COSE number of the algorithm. */
  readonly algorithm: number;
  readonly relyingParty: string;
  /** Zeros for keys that have none. */
  readonly aaguid: string;
  /** As the key claimed it; empty if it did not. */
  readonly firmware: string;
  /** As the key claims them. */
  readonly transports: readonly string[];
  readonly numberSource: (typeof numberSources)[number];
  readonly createdAt: number;
  /** When the key lost it; null if it has it. */
  readonly lostAt: number | null;
  /** When the key last signed with it after a touch. */
  readonly provedAt: number | null;
  /** The largest counter of a signature. */
  readonly counter: number;
  /** When the key was last recognized, and the station that had it; empty if that has no name. */
  readonly seenAt: number;
  readonly station: string;
  /** Ascends with each change, from 1. */
  readonly version: number;
}

/** Fields that never change. */
export const fixedFields = namesIn(
  'device credentialId publicKey algorithm relyingParty aaguid firmware transports numberSource',
) satisfies readonly (keyof IdentityRecord)[];
type FixedField = (typeof fixedFields)[number];

/** A new credential. */
export type NewIdentity = Pick<IdentityRecord, Exclude<FixedField, 'device'> | 'counter' | 'station'>;

/**
 * Adds the credential of a registered device, or of the one that is registered in the commit with this serial number. A `Conflict` if the
 * device has a credential beside the one that is lost in the commit, if any device has this one, or if the serial number was registered.
 */
export interface IdentityAdd {
  readonly kind: 'identity.add';
  readonly identity: NewIdentity;
  readonly device: number | { readonly serialNumber: string };
  /** Number of the credential that the commit marks as lost. */
  readonly replaces?: number | undefined;
  readonly entry: Entry;
}

/** Changes a credential. A `Conflict` if its version is not `before`. */
export interface IdentitySet {
  readonly kind: 'identity.set';
  readonly identity: number;
  readonly device: number;
  readonly before: number;
  readonly set: Partial<Pick<IdentityRecord, 'lostAt' | 'provedAt' | 'counter' | 'seenAt' | 'station'>>;
  /** Null if only the place has changed. */
  readonly entry: Entry | null;
}

/** Every change of credentials. */
export type IdentityChange = IdentityAdd | IdentitySet;

/** The identity of a device. */
export type Identity = (typeof identities)[number];

/** The identity of a device with these credentials. A number that no key reports identifies nothing without one. */
export function identityOf(credentials: readonly Pick<IdentityRecord, 'lostAt' | 'numberSource'>[]): Identity {
  const last = credentials.at(-1);
  if (last === undefined) return 'serial';
  return last.lostAt === null ? 'credential' : last.numberSource === 'key' ? 'serial' : 'none';
}

/** Entries of the journal about a credential. `deviceType` is that of its device. */
export const identityEntry = (change: 'bound' | 'proved' | 'lost', deviceType: string, detail: object = {}): Entry => ({
  type: 'DEVICE_IDENTITY',
  data: { deviceType, change },
  detail: { ...detail },
});

/** The key has lost the credential: by a reset, or an ADMIN confirms it. */
export const lost = (one: IdentityRecord, deviceType: string, reason: 'reset' | 'replaced', at: number): IdentitySet =>
  changed(one, { lostAt: at }, identityEntry('lost', deviceType, { reason }));

/** A change of a credential. */
export const changed = (
  { number, device, version }: IdentityRecord,
  set: IdentitySet['set'],
  entry: Entry | null,
): IdentitySet => ({ kind: 'identity.set', identity: number, device, before: version, set, entry });

/** The digest of the fields that never change. The id in it is random: nothing can be guessed from the digest. */
export const identityDigest = (row: { readonly [F in FixedField]: unknown }): string =>
  digest(JSON.stringify(fixedFields.map(field => (field === 'transports' ? textOf(row.transports) : row[field]))));

/** Engines exchange a list as its JSON text. */
const textOf = (list: unknown): unknown => (typeof list === 'string' ? list : JSON.stringify(list));
