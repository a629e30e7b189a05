/** Trust as it is stored, and as the judge uses it. */
import type { TrustedCertificateItem } from '../../src/contract/trust.ts';
import { TimeSlice } from '../base/concurrency.ts';
import type { DocumentRecord } from '../store/document.ts';
import type { Store } from '../store/store.ts';
import { readable } from './judge/finding.ts';
import { indexMetadata } from './judge/metadata.ts';
import type { Metadata, MetadataEntry, Trust } from './judge/types.ts';

/** A certificate in the document `trust`. */
export interface StoredCertificate extends TrustedCertificateItem {
  /** Base64. */
  readonly der: string;
}

/** The first line of the document `metadata`; each of the other lines is an entry. */
export interface MetadataHead {
  readonly number: number;
  readonly nextUpdate: string;
  readonly entries: number;
  readonly importedBy: string | null;
  readonly importedAt: string;
}

/** The certificates of the document; empty without a document. */
export const certificatesOf = (document: DocumentRecord | null): readonly StoredCertificate[] =>
  document === null ? [] : (JSON.parse(document.value) as readonly StoredCertificate[]);

/** Beginning of the document after the metadata was removed. */
interface RemovedHead {
  /** The highest number that was imported: an older BLOB is refused also after the removal. */
  readonly removed: number;
}

function firstLine(document: DocumentRecord | null): MetadataHead | RemovedHead | null {
  if (!document?.value) return null;
  return JSON.parse(document.value.slice(0, document.value.indexOf('\n'))) as MetadataHead | RemovedHead;
}

/** The first line of the document; null without metadata. */
export function headOf(document: DocumentRecord | null): MetadataHead | null {
  const line = firstLine(document);
  return line === null || 'removed' in line ? null : line;
}

/** Number of the metadata that was imported last, also if it was removed; null if none was. */
export function lastNumberOf(document: DocumentRecord | null): number | null {
  const line = firstLine(document);
  return line && ('removed' in line ? line.removed : line.number);
}

/** The text of the document after the metadata of this number was removed. */
export const removedText = (removed: number): string => `${JSON.stringify({ removed } satisfies RemovedHead)}\n`;

interface StoredEntry extends Omit<MetadataEntry, 'anchors'> {
  readonly anchors: readonly string[];
}

/** The text of the document `metadata`, made in time slices. */
export async function metadataText(head: MetadataHead, entries: readonly MetadataEntry[]): Promise<string> {
  const slice = new TimeSlice();
  const lines = [JSON.stringify(head)];
  for (const entry of entries) {
    const anchors = entry.anchors.map(der => Buffer.from(der).toString('base64'));
    lines.push(JSON.stringify({ ...entry, anchors } satisfies StoredEntry));
    if (slice.over) await slice.pass();
  }
  return lines.map(line => `${line}\n`).join('');
}

async function readMetadata(document: DocumentRecord | null): Promise<Metadata | null> {
  const head = headOf(document);
  if (document === null || head === null) return null;
  const slice = new TimeSlice();
  const entries: MetadataEntry[] = [];
  const text = document.value;
  for (let at = text.indexOf('\n') + 1; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const entry = JSON.parse(text.slice(at, end)) as StoredEntry;
    entries.push({ ...entry, anchors: entry.anchors.map(der => Buffer.from(der, 'base64')) });
    at = end + 1;
    if (slice.over) await slice.pass();
  }
  return { number: head.number, nextUpdate: head.nextUpdate, entries };
}

async function toTrust(certificates: readonly StoredCertificate[], metadata: Metadata | null): Promise<Trust> {
  const read = certificates.map(({ der, ...rest }) => ({ ...rest, der: Buffer.from(der, 'base64') }));
  const slice = new TimeSlice();
  for (const { der } of read) {
    // So that the first verdict does not read all of them at once.
    readable([der]);
    if (slice.over) await slice.pass();
  }
  return {
    anchors: read.filter(({ kind }) => kind === 'anchor'),
    intermediates: read.filter(({ kind }) => kind === 'intermediate'),
    metadata: metadata && indexMetadata(metadata),
  };
}

/** Present trust of the registry. It is kept in memory, and read again when another version is stored. */
export class TrustedRoots {
  readonly #store: Store;
  #known: { readonly versions: string; readonly trust: Promise<Trust> } | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Rejects with `StoreFailure`. */
  async current(): Promise<Trust> {
    const versions = await Promise.all([this.#store.documentVersion('trust'), this.#store.documentVersion('metadata')]);
    const text = versions.join(' ');
    if (this.#known?.versions !== text) {
      const trust = this.#read();
      trust.catch(() => {
        this.#known = null;
      });
      this.#known = { versions: text, trust };
    }
    return this.#known.trust;
  }

  async #read(): Promise<Trust> {
    const [certificates, metadata] = await Promise.all([
      this.#store.document('trust'),
      this.#store.document('metadata'),
    ]);
    return toTrust(certificatesOf(certificates), await readMetadata(metadata));
  }
}
