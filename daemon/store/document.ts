/**
 * A document: settings that all daemons of a registry share and that the journal proves. Documents are the trust, the policies,
 * the webhooks, the groups of persons, single sign-on, the directory and the sealed PINs.
 */
import { documentDigest } from './digest.ts';
import type { Entry } from './journal.ts';

/** The names of the documents of each subject: its folder adds them here. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectDocuments {}
export type DocumentName = SubjectDocuments[keyof SubjectDocuments];

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

/** Settings or a policy, as they are stored. */
export interface SettingsRecord<C> {
  /** Version of the document; 0 if it does not exist. */
  readonly version: number;
  /** Null if they are not in use. */
  readonly config: C;
}

/** The settings in a document. `none`: those before any are set. */
export const settingsIn = <C>(document: DocumentRecord | null, none: C): SettingsRecord<C> =>
  document ? { version: document.version, config: JSON.parse(document.value) as C } : { version: 0, config: none };

/** Replaces settings. The journal gets all of them but a sealed secret, of which it gets whether it was set again. */
export function setSettings<C extends object | null>(
  { name, type }: { readonly name: DocumentName; readonly type: Entry['type'] },
  { version, config: before }: SettingsRecord<C>,
  after: C,
): DocumentSet {
  const isSealedAgain = before !== null && after !== null && sealedIn(after) !== sealedIn(before);
  const detail = {
    before: withoutSecret(before),
    after: withoutSecret(after),
    ...(isSealedAgain && { secret: 'changed' }),
  };
  return replace({ name, version }, JSON.stringify(after), { type, detail });
}

const sealedIn = (config: object): unknown => (config as { readonly sealed?: unknown }).sealed;

function withoutSecret(config: object | null): object | null {
  if (config === null) return null;
  const { sealed: _, ...rest } = config as { readonly sealed?: unknown };
  return rest;
}

/** Records in one document, with numbers from 1 that are never used again. */
export interface NumberedRecords<R> {
  /** Version of the document; 0 if it does not exist. */
  readonly version: number;
  /** The number of the last record that was added. */
  readonly last: number;
  readonly list: readonly R[];
}

/** The records in a document. */
export const recordsIn = <R>(document: DocumentRecord | null): NumberedRecords<R> =>
  document
    ? { version: document.version, ...(JSON.parse(document.value) as Omit<NumberedRecords<R>, 'version'>) }
    : { version: 0, last: 0, list: [] };

/** Replaces the records of a document. */
export const setRecords = <R>(
  name: DocumentName,
  { version, ...value }: NumberedRecords<R>,
  entry: Entry,
): DocumentSet => replace({ name, version }, JSON.stringify(value), entry);
