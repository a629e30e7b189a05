/** Settings of a registry that all its daemons share, and that the journal proves: what is trusted, what is required of keys, sign-ins and persons, the webhooks, the groups of persons, single sign-on with its accounts, the directory, and sealed PINs. */
import { documentDigest } from './digest.ts';
import type { Entry } from './journal.ts';

/** Names of documents. */
export type DocumentName =
  | 'trust'
  | 'metadata'
  | 'proof-policy'
  | 'webhooks'
  | 'sign-in-policy'
  | 'people-policy'
  | 'groups'
  | 'sso'
  | 'providers'
  | 'pin-policy'
  | `pin:${number}`
  | 'directory'
  | 'directory-run'
  | `sso-account:${string}`;

/** A document as it is stored. */
export interface DocumentRecord {
  readonly name: DocumentName;
  /** Ascends with each change, from 1. */
  readonly version: number;
  readonly value: string;
}

/** Replaces a document. A `Conflict` if its version is not `before`; 0: it does not exist. */
export interface DocumentSet {
  readonly kind: 'document.set';
  readonly name: DocumentName;
  readonly before: number;
  readonly value: string;
  readonly entry: Entry;
}

/** The document has this version; 0: it does not exist. */
export interface DocumentGuard {
  readonly kind: 'document';
  readonly name: DocumentName;
  readonly version: number;
}

/** Replaces a document; `entry` gets what proves its value. */
export function replace(
  { name, version }: Pick<DocumentRecord, 'name' | 'version'>,
  value: string,
  { type, detail }: Entry,
): DocumentSet {
  const proved = { ...detail, document: name, documentDigest: documentDigest(value) };
  return { kind: 'document.set', name, before: version, value, entry: { type, detail: proved } };
}

/** Settings with a sealed secret, as they are stored. */
export interface SettingsRecord<C> {
  /** Version of the document; 0 if it does not exist. */
  readonly version: number;
  /** Null if they are not in use. */
  readonly config: C | null;
}

/** The settings in a document. */
export const settingsIn = <C>(document: DocumentRecord | null): SettingsRecord<C> =>
  document
    ? { version: document.version, config: JSON.parse(document.value) as C | null }
    : { version: 0, config: null };

/** Replaces settings. The journal gets all of them but the secret. */
export function setSettings<C extends { readonly sealed: string | null }>(
  { name, type }: { readonly name: DocumentName; readonly type: Entry['type'] },
  { version, config: before }: SettingsRecord<C>,
  after: C | null,
): DocumentSet {
  const detail = { before: before && withoutSecret(before), after: after && withoutSecret(after) };
  return replace({ name, version }, JSON.stringify(after), { type, detail });
}

const withoutSecret = ({ sealed: _, ...rest }: { readonly sealed: string | null }) => rest;
