/** Settings of a registry that all its daemons share, and that the journal proves: what is trusted, what is required of keys and of sign-ins, and the webhooks. */
import { documentDigest } from './digest.ts';
import type { Entry } from './journal.ts';

/** Names of documents. */
export type DocumentName = 'trust' | 'metadata' | 'proof-policy' | 'webhooks' | 'sign-in-policy';

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
