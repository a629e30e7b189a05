/** The journal: an entry for each change, in the order of the commits. */
import { type JournalEventType, journalEventTypes } from '../../src/contract/event-types.ts';

/** Types of entry that are stored but never sent as notifications. */
const privateEventTypes = [
  'DEVICES_BOUND',
  'CREDENTIAL_BEGUN',
  'CREDENTIAL_BEGUN_AGAIN',
  'CREDENTIAL_ISSUED',
  'CREDENTIAL_REMOVED',
  'PIN_POLICY_SET',
  'PIN_STORED',
  'PIN_READ',
  'PIN_REMOVED',
  'KEY_RESET_BEGUN',
  'KEY_RESET_CANCELED',
  'KEY_RESET',
  'PROVIDER_ADDED',
  'PROVIDER_REMOVED',
  'PROVIDER_SECRET_SET',
  'USER_CREATED',
  'USER_UPDATED',
  'USER_LOGGED_OUT',
  'USER_REGISTRATION_ALLOWED',
  'PASSWORD_CHANGED',
  'TOKEN_ADOPTED',
  'TOKEN_CREATED',
  'TOKEN_REVOKED',
  'DEVICE_USED',
  'BACKUP_CREATED',
  'BACKUP_RESTORED',
  'REGISTRY_RESTORED',
  'LOGIN_SUCCEEDED',
  'LOGIN_FAILED',
  'OPERATION_REFUSED',
  'CONFIRMATION_FAILED',
  'ACTIVATION_CODE_WRONG',
  'PACKAGE_DOWNLOADED',
  'BACKUP_DOWNLOADED',
  'SIGNING_KEY_ROTATED',
  'JOURNAL_KEY_ROTATED',
  'DEVICE_PROVED',
  'DEVICE_JUDGED_AGAIN',
  'PROOF_RECEIVED',
  'TRUST_IMPORTED',
  'TRUST_REMOVED',
  'PROOF_POLICY_SET',
  'PROOFS_JUDGED_AGAIN',
  'WEBHOOK_CREATED',
  'WEBHOOK_DISABLED',
  'WEBHOOK_ENABLED',
  'WEBHOOK_REMOVED',
  'PASSKEY_ADDED',
  'PASSKEY_REMOVED',
  'SIGN_IN_POLICY_SET',
  'PERSON_ADDED',
  'PERSON_UPDATED',
  'PEOPLE_POLICY_SET',
  'GROUPS_SET',
  'SSO_SET',
  'SSO_ACCOUNT_LINKED',
  'SSO_SESSION_ENDED',
  'SSO_SESSIONS_ENDED',
  'DIRECTORY_SET',
  'DIRECTORY_READ',
] as const;

/** The type of any entry: notified or private. */
export type EntryType = JournalEventType | (typeof privateEventTypes)[number];
/** All types of entry. */
export const entryTypes: readonly EntryType[] = [...journalEventTypes, ...privateEventTypes];

/** Subject of an entry that is not about a device, by how its type begins. Entries of other types are about a user. */
export const subjectPrefixes = {
  app: 'APP_VERSION_',
  credential: 'CREDENTIAL_',
  passkey: 'PASSKEY_',
  person: 'PERSON_',
  serviceToken: 'TOKEN_',
} as const;
export type SubjectKind = keyof typeof subjectPrefixes | 'user';
const subjectKinds = Object.keys(subjectPrefixes) as (keyof typeof subjectPrefixes)[];

/** Subject of an entry of this type, if it has one and is not about a device. */
export const subjectKindOf = (type: EntryType): SubjectKind =>
  subjectKinds.find(kind => type.startsWith(subjectPrefixes[kind])) ?? 'user';

/** Journal entry of a change. */
export interface Entry {
  readonly type: EntryType;
  /** Public part of the notification, without the id of the device or version: the store adds it. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** For the audit only: reason, note, previous values. Never a code, password or token. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Only writes an entry: nothing of the registry changes. */
export interface JournalAdd {
  readonly kind: 'journal.add';
  readonly entry: Entry;
  /** Number of the device that the entry is about, or null. */
  readonly device: number | null;
  /** As in `EventRecord`. */
  readonly subject: number | null;
}

/**
 * Authenticates the entries after this one with another key. Nothing is written if the journal has the key already.
 */
export interface JournalRotate {
  readonly kind: 'journal.rotate';
  readonly key: Uint8Array;
  readonly entry: Entry;
}

/** The key that signs tokens was replaced. `revoked`: all earlier tokens became invalid at once. */
export function signingKeyRotated(revoked: boolean): JournalAdd {
  return {
    kind: 'journal.add',
    entry: { type: 'SIGNING_KEY_ROTATED', detail: { revoked } },
    device: null,
    subject: null,
  };
}

/** A stored entry. */
export interface EventRecord {
  /** Position in the journal: ascends without gaps, in the order of the commits. */
  readonly id: number;
  /** Milliseconds since 1970 (UTC). */
  readonly at: number;
  readonly type: EntryType;
  /** Number of the device; null if the entry is not about a device. */
  readonly device: number | null;
  /**
   * Number of what `subjectKindOf` names; if the entry is about a device, of the backup or receipt. Null if the entry is about the
   * device alone, or about neither.
   */
  readonly subject: number | null;
  /** Name of the user who made the change, or `token:NAME` for a service token; null if the daemon made it. */
  readonly actor: string | null;
  /** Null if no request caused the change. */
  readonly requestId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly detail: Readonly<Record<string, unknown>>;
}
