/**
 * The changes of administration as events: only an ADMIN sees them. Each comes from an entry that the journal has anyway. Their data,
 * their `changes`, the documents and the words of the command line are made from these rows. Plain data, without schemas.
 */
import type { EventWords } from './event-words.ts';

/**
 * How `changes` show a field of an entry: as a new or former value; only that a secret has changed; or the fields that it names, whose
 * values the journal does not have.
 */
export type ShownField = 'new' | 'former' | 'secret' | 'names';

/** A type of event of administration. Its `changes` have also what differs between `before` and `after` of the entry. */
export interface AdministrationEvent extends EventWords {
  /** Names in its data. A value is null if an entry of an earlier version lacks it. */
  readonly data: readonly string[];
  /** Fields of the entry that `changes` show. */
  readonly changes?: Readonly<Record<string, ShownField>>;
  /** How they show the fields of a provider. Their table is too large for the first page of the console, so the daemon reads it. */
  readonly providerFields?: 'new' | 'former';
  /** Name of what `before` and `after` of an entry are, if they are not objects. */
  readonly compared?: string;
  /** What every event of the type changes. */
  readonly change?: { readonly field: string; readonly before: string | null; readonly after: string };
  /** The types of the entries, and the data that each has besides. Absent: entries of the same type. */
  readonly entries?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const account = ['userId', 'username'];
const webhook = ['webhookId', 'url'];
const provider = ['providerId', 'name'];
const secret = { field: 'secret', before: null, after: 'changed' } as const;

/** Events of administration. A new one comes last. */
export const administrationEventTable = {
  USER_CREATED: {
    data: account,
    changes: { username: 'new', role: 'new', email: 'new' },
    words: 'account {username} created',
    title: 'account created',
    style: 'cyan',
  },
  USER_UPDATED: {
    data: account,
    changes: { passwordHash: 'secret', kept: 'new' },
    words: 'account[ {username}] changed[: {changes}]',
    title: 'account changed',
  },
  USER_PASSWORD_CHANGED: {
    data: account,
    change: { field: 'password', before: null, after: 'changed' },
    entries: { PASSWORD_CHANGED: {} },
    words: 'password of {username} changed',
    title: 'password changed',
  },
  USER_LOGGED_OUT: { data: account, words: 'sessions of {username} ended', title: 'all sessions ended' },
  USER_REGISTRATION_ALLOWED: {
    data: account,
    changes: { until: 'new' },
    words: '{username} may register a key[: {changes}]',
    title: 'may register a sign-in key',
    style: 'yellow',
  },
  USER_KEY_ADDED: {
    data: [...account, 'name'],
    changes: { name: 'new' },
    entries: { PASSKEY_ADDED: {} },
    words: 'sign-in key {name}[ of {username}] registered',
    title: 'sign-in key registered',
  },
  USER_KEY_REMOVED: {
    data: [...account, 'name'],
    changes: { name: 'former' },
    entries: { PASSKEY_REMOVED: {} },
    words: 'sign-in key {name}[ of {username}] removed',
    title: 'sign-in key removed',
    style: 'yellow',
  },
  TOKEN_CREATED: {
    data: ['tokenId', 'name'],
    changes: { name: 'new', role: 'new', expiresAt: 'new', allowedFrom: 'new', may: 'new', owner: 'new' },
    words: 'service token {name} created',
    title: 'service token created',
    style: 'cyan',
  },
  TOKEN_REVOKED: {
    data: ['tokenId', 'name'],
    change: { field: 'revoked', before: 'false', after: 'true' },
    words: 'service token {name} revoked',
    title: 'service token revoked',
    style: 'yellow',
  },
  TOKEN_ADOPTED: {
    data: ['tokenId', 'name'],
    changes: { owner: 'new' },
    words: 'service token {name} has a new owner[: {changes}]',
    title: 'service token has a new owner',
  },
  POLICY_SET: {
    data: ['policy'],
    changes: { user: 'new', required: 'new', exempt: 'new', until: 'new' },
    compared: 'requireKey',
    entries: {
      SIGN_IN_POLICY_SET: { policy: 'sign-in' },
      PEOPLE_POLICY_SET: { policy: 'people' },
      PROOF_POLICY_SET: { policy: 'proof' },
      PIN_POLICY_SET: { policy: 'pin' },
    },
    words: 'policy set: {policy}[: {changes}]',
    title: 'policy set',
    style: 'yellow',
  },
  WEBHOOK_CREATED: {
    data: webhook,
    changes: { url: 'new', types: 'new' },
    words: 'webhook to {url} created',
    title: 'webhook created',
    style: 'cyan',
  },
  WEBHOOK_ENABLED: {
    data: webhook,
    change: { field: 'enabled', before: 'false', after: 'true' },
    words: 'webhook to {url} enabled',
    title: 'webhook enabled',
    style: 'green',
  },
  WEBHOOK_DISABLED: {
    data: webhook,
    change: { field: 'enabled', before: 'true', after: 'false' },
    changes: { reason: 'new' },
    words: 'webhook to {url} disabled',
    title: 'webhook disabled',
    style: 'yellow',
  },
  WEBHOOK_REMOVED: {
    data: webhook,
    changes: { url: 'former' },
    words: 'webhook to {url} removed',
    title: 'webhook removed',
    style: 'yellow',
  },
  PROVIDER_ADDED: {
    data: provider,
    changes: { name: 'new', type: 'new' },
    providerFields: 'new',
    words: 'provider {name} added',
    title: 'provider added',
    style: 'cyan',
  },
  PROVIDER_SECRET_SET: {
    data: provider,
    change: secret,
    words: 'secret of provider {name} replaced',
    title: 'secret of the provider replaced',
  },
  PROVIDER_REMOVED: {
    data: provider,
    changes: { name: 'former', type: 'former' },
    providerFields: 'former',
    words: 'provider {name} removed',
    title: 'provider removed',
    style: 'yellow',
  },
  SSO_SET: {
    data: [],
    changes: { secret: 'secret' },
    words: 'single sign-on set[: {changes}]',
    title: 'single sign-on set',
    style: 'yellow',
  },
  SSO_ACCOUNT_LINKED: {
    data: ['username'],
    words: 'account {username} linked to its person at the provider',
    title: 'account linked to a person at the provider',
  },
  SSO_SESSION_ENDED: {
    data: [...account, 'sessions', 'reason'],
    words: 'sessions of {username} ended at the provider[: {reason}]',
    title: 'sessions ended at the provider',
  },
  SSO_SESSIONS_ENDED: {
    data: [],
    changes: { changed: 'names' },
    words: 'all sessions of single sign-on ended[: {changes}]',
    title: 'all sessions of single sign-on ended',
  },
  DIRECTORY_SET: {
    data: [],
    changes: { secret: 'secret' },
    words: 'directory set[: {changes}]',
    title: 'directory set',
    style: 'yellow',
  },
  PERSON_ADDED: {
    data: ['personId', 'source'],
    changes: { source: 'new' },
    words: 'person added ({source})',
    title: 'person added',
  },
  PERSON_UPDATED: {
    data: ['personId'],
    changes: { fields: 'names' },
    words: 'person changed[: {changes}]',
    title: 'person changed',
  },
  PERSON_ERASED: { data: ['personId'], words: 'person erased', style: 'red' },
  PERSON_GROUPS_SET: {
    data: [],
    changes: { added: 'new', changed: 'new', removed: 'former' },
    entries: { GROUPS_SET: {} },
    words: 'groups of persons changed[: {changes}]',
    title: 'groups of persons changed',
  },
  SETTINGS_SET: {
    data: ['setting'],
    changes: { metadata: 'new', certificates: 'new', revoked: 'new', restoredTo: 'new' },
    entries: {
      TRUST_IMPORTED: { setting: 'trust' },
      SIGNING_KEY_ROTATED: { setting: 'signing-key' },
      JOURNAL_KEY_ROTATED: { setting: 'journal-key' },
      REGISTRY_RESTORED: { setting: 'restore' },
    },
    words: 'setting changed: {setting}[: {changes}]',
    title: 'setting changed',
    style: 'yellow',
  },
  SETTINGS_REMOVED: {
    data: ['setting'],
    changes: { metadata: 'former', fingerprint: 'former' },
    entries: { TRUST_REMOVED: { setting: 'trust' } },
    words: 'setting removed: {setting}[: {changes}]',
    title: 'setting removed',
    style: 'yellow',
  },
} as const satisfies Readonly<Record<string, AdministrationEvent>>;

/** Type of an event of administration. */
export type AdministrationEventType = keyof typeof administrationEventTable;

/** Types of the events of administration. */
export const administrationEventTypes = Object.keys(administrationEventTable) as AdministrationEventType[];

const rows = new Map<string, AdministrationEvent>(Object.entries(administrationEventTable));
/** The row of an event of administration; undefined for others. */
export const administrationEvent = (type: string): AdministrationEvent | undefined => rows.get(type);
