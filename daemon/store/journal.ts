/** The journal: an entry for each change, in the order of the commits. */
import {
  type JournalEvent,
  type JournalEventType,
  journalEvent,
  journalEventTypes,
} from '../../src/contract/event-types.ts';

/** Subject of an entry that is not about a device. */
export type SubjectKind = 'user' | 'serviceToken' | 'passkey' | 'credential' | NonNullable<JournalEvent['subject']>;

/** Types of entry that are stored but never sent as notifications. Entries of those with null have no subject besides a device. */
const privateEventTable = {
  DEVICES_BOUND: null,
  CREDENTIAL_BEGUN: 'credential',
  CREDENTIAL_BEGUN_AGAIN: 'credential',
  CREDENTIAL_ISSUED: 'credential',
  CREDENTIAL_REMOVED: 'credential',
  PIN_POLICY_SET: null,
  PIN_STORED: null,
  PIN_READ: null,
  PIN_REMOVED: null,
  KEY_RESET_BEGUN: null,
  KEY_RESET_CANCELED: null,
  KEY_RESET: null,
  PROVIDER_ADDED: null,
  PROVIDER_REMOVED: null,
  PROVIDER_SECRET_SET: null,
  USER_CREATED: 'user',
  USER_UPDATED: 'user',
  USER_LOGGED_OUT: 'user',
  USER_REGISTRATION_ALLOWED: null,
  PASSWORD_CHANGED: 'user',
  TOKEN_ADOPTED: 'serviceToken',
  TOKEN_CREATED: 'serviceToken',
  TOKEN_REVOKED: 'serviceToken',
  DEVICE_USED: null,
  BACKUP_CREATED: null,
  BACKUP_RESTORED: null,
  REGISTRY_RESTORED: null,
  LOGIN_SUCCEEDED: null,
  LOGIN_FAILED: null,
  OPERATION_REFUSED: null,
  CONFIRMATION_FAILED: null,
  ACTIVATION_CODE_WRONG: null,
  PACKAGE_DOWNLOADED: null,
  BACKUP_DOWNLOADED: null,
  SIGNING_KEY_ROTATED: null,
  JOURNAL_KEY_ROTATED: null,
  DEVICE_PROVED: null,
  DEVICE_JUDGED_AGAIN: null,
  PROOF_RECEIVED: null,
  TRUST_IMPORTED: null,
  TRUST_REMOVED: null,
  PROOF_POLICY_SET: null,
  PROOFS_JUDGED_AGAIN: null,
  WEBHOOK_CREATED: null,
  WEBHOOK_DISABLED: null,
  WEBHOOK_ENABLED: null,
  WEBHOOK_REMOVED: null,
  PASSKEY_ADDED: 'passkey',
  PASSKEY_REMOVED: 'passkey',
  SIGN_IN_POLICY_SET: null,
  PERSON_ADDED: 'person',
  PERSON_UPDATED: 'person',
  CASE_ITEM_KEPT: 'person',
  CASE_ERASED: 'person',
  PERSON_ERASED: 'person',
  CREDENTIAL_ERASED: 'credential',
  RECEIPT_ERASED: null,
  PEOPLE_POLICY_SET: null,
  GROUPS_SET: null,
  SSO_SET: null,
  SSO_ACCOUNT_LINKED: null,
  SSO_HOLDER_LINKED: null,
  SSO_SESSION_ENDED: 'user',
  SSO_SESSIONS_ENDED: null,
  DIRECTORY_SET: null,
  DIRECTORY_READ: null,
  PEOPLE_COMPARED: null,
} as const satisfies Readonly<Record<string, SubjectKind | null>>;

/** The type of any entry: notified or private. */
export type EntryType = JournalEventType | keyof typeof privateEventTable;

const subjectKinds = new Map<string, SubjectKind | null>([
  ...journalEventTypes.map(type => [type, journalEvent(type)!.subject ?? null] as const),
  ...Object.entries(privateEventTable),
]);
/** All types of entry. */
export const entryTypes = [...subjectKinds.keys()] as readonly EntryType[];

/** Subject of an entry of this type, if it has one and is not about a device; undefined for types of a later version. */
export const subjectKindOf = (type: string): SubjectKind | null | undefined => subjectKinds.get(type);

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
