import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import type { Data, Form } from '../../src/contract/routes.ts';
import type * as api from '../../src/contract/trust.ts';
import { limitConcurrency, TimeSlice } from '../base/concurrency.ts';
import { iso } from '../base/time.ts';
import type { StagedBlob } from '../requests/blobs.ts';
import { type Context, commitLast, nameOf, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { replace } from '../store/document.ts';
import { type Certificate, isSelfIssued } from './judge/certificate.ts';
import { MalformedError } from './judge/malformed.ts';
import { RefusedMetadata, readBlob } from './judge/metadata.ts';
import { certificatesIn, trustFileKind } from './judge/trust-file.ts';
import {
  certificatesOf,
  headOf,
  lastNumberOf,
  type MetadataHead,
  metadataText,
  removedText,
  type StoredCertificate,
} from './trusted.ts';

/** Dependencies of the service. */
interface TrustServiceParts extends ServiceParts {
  /** DER of the certificates that metadata may lead to: the roots of the system. */
  readonly systemRoots: () => Promise<readonly Uint8Array[]>;
}

type Import = Data<'importTrust'>;

/** A file with trust, in memory: it is at most 32 MiB, and one at a time is read. */
export interface TrustFile extends StagedBlob {
  readonly bytes: Buffer;
}

/** Trust of the registry: imported, listed and removed. */
export class TrustService extends Service<TrustServiceParts> {
  readonly #oneAtATime = limitConcurrency(1);

  /** Reads the file into memory. Refuses with 4002 one that is too large. */
  stage(content: Readable, maxBytes: number): Promise<TrustFile> {
    return this.#oneAtATime(async () => {
      const chunks: Buffer[] = [];
      // Chunk by chunk: 10 MB at once would hold the event loop for 25 ms.
      const hash = createHash('sha256');
      let size = 0;
      for await (const chunk of content as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) throw new ApiError(Code.uploadFailed, `the file is larger than ${maxBytes} bytes`);
        hash.update(chunk);
        chunks.push(chunk);
      }
      const bytes = Buffer.concat(chunks);
      return { bytes, size, sha256: hash.digest('hex'), persist: never, discard: async () => {} };
    });
  }

  /** Refuses with 4002 a file that cannot be read or is not trusted. */
  importFile(context: Context, form: Form<'importTrust'>, { bytes, sha256 }: TrustFile): Promise<Import> {
    return this.#oneAtATime(() => {
      const work = () =>
        trustFileKind(bytes) === 'metadata'
          ? this.#importMetadata(context, bytes, sha256)
          : this.#importCertificates(context, form, bytes);
      return retrying(work).catch(toRefusal);
    });
  }

  async list(): Promise<api.TrustList> {
    const [certificates, metadata] = await this.#documents();
    return { metadata: headOf(metadata), certificates: certificatesOf(certificates).map(shown) };
  }

  /** Refuses with 404 a certificate or metadata that the registry does not trust. */
  remove(context: Context, fingerprint: string): Promise<Data<'removeTrust'>> {
    return retrying(async () => {
      const change = await (fingerprint === 'metadata' ? this.#withoutMetadata() : this.#without(fingerprint));
      const result = { fingerprint, removed: true };
      return commitLast(this.store, context, { at: this.now(), changes: [change] }, () => result);
    });
  }

  async #importMetadata(context: Context, bytes: Buffer, sha256: string): Promise<Import> {
    const present = await this.store.document('metadata');
    const at = this.now();
    const { metadata, warnings } = await readBlob(bytes, {
      roots: await this.parts.systemRoots(),
      currentNumber: lastNumberOf(present),
      now: new Date(at),
      budget: new TimeSlice(),
    });
    const { number, nextUpdate, entries } = metadata;
    const head: MetadataHead = { number, nextUpdate, entries: entries.length, ...importedBy(context, at) };
    const entry = { type: 'TRUST_IMPORTED', detail: { metadata: number, nextUpdate, sha256 } } as const;
    const text = await metadataText(head, entries);
    const change = replace({ name: 'metadata', version: present?.version ?? 0 }, text, entry);
    const result = { metadata: head, certificates: [], warnings: [...warnings] };
    return commitLast(this.store, context, { at, changes: [change] }, () => result);
  }

  async #importCertificates(context: Context, form: Form<'importTrust'>, bytes: Buffer): Promise<Import> {
    const at = this.now();
    const read = certificatesIn(bytes).map(certificate => storedOf(certificate, form, importedBy(context, at)));
    const present = await this.store.document('trust');
    const all = new Map(certificatesOf(present).map(one => [one.fingerprint, one]));
    for (const one of read) all.set(one.fingerprint, one);
    if (all.size > proofBounds.certificates)
      throw new ApiError(Code.uploadFailed, `the registry trusts at most ${proofBounds.certificates} certificates`);
    const sorted = [...all.values()].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
    const detail = {
      certificates: read.map(({ fingerprint, purpose, kind, label }) => ({ fingerprint, purpose, kind, label })),
    };
    const change = replace({ name: 'trust', version: present?.version ?? 0 }, JSON.stringify(sorted), {
      type: 'TRUST_IMPORTED',
      detail,
    });
    const warnings = read
      .filter(({ notAfter }) => Date.parse(notAfter) <= at)
      .map(one => `${one.subject} has expired.`);
    const result = { metadata: null, certificates: read.map(shown), warnings };
    return commitLast(this.store, context, { at, changes: [change] }, () => result);
  }

  async #without(fingerprint: string) {
    const document = await this.store.document('trust');
    const certificates = certificatesOf(document);
    const left = certificates.filter(one => one.fingerprint !== fingerprint.toLowerCase());
    if (!document || left.length === certificates.length)
      throw new ApiError(404, `no certificate with the fingerprint ${fingerprint} is trusted`);
    return replace(document, JSON.stringify(left), { type: 'TRUST_REMOVED', detail: { fingerprint } });
  }

  async #withoutMetadata() {
    const document = await this.store.document('metadata');
    const head = headOf(document);
    if (!document || !head) throw new ApiError(404, 'no metadata was imported');
    return replace(document, removedText(head.number), { type: 'TRUST_REMOVED', detail: { metadata: head.number } });
  }

  #documents() {
    return Promise.all([this.store.document('trust'), this.store.document('metadata')]);
  }
}

const never = (): never => {
  throw new Error('a file with trust is not stored as a file');
};

const shown = ({ der: _, ...certificate }: StoredCertificate): api.TrustedCertificateItem => certificate;

const importedBy = (context: Context, at: number) => ({
  importedBy: nameOf(context.caller),
  importedAt: iso(at),
});

function storedOf(
  certificate: Certificate,
  { purpose, label, aaguids }: Form<'importTrust'>,
  imported: ReturnType<typeof importedBy>,
): StoredCertificate {
  // RFC 5280, 4.1.2.6: a CA has a name. Without one it would be the issuer of every certificate that names none.
  if (!certificate.x509.subject)
    throw new ApiError(
      Code.uploadFailed,
      `the certificate ${certificate.fingerprint} has an empty subject: it vouches for nothing`,
    );
  return {
    fingerprint: certificate.fingerprint,
    label: label ?? '',
    purpose: purpose ?? 'scp11b',
    kind: isSelfIssued(certificate) ? 'anchor' : 'intermediate',
    subject: certificate.x509.subject.replaceAll('\n', ', '),
    notAfter: certificate.notAfter.toISOString(),
    aaguids: aaguids ? aaguids.split(',') : [],
    ...imported,
    der: Buffer.from(certificate.der).toString('base64'),
  };
}

/** The message of the judge explains what is wrong with the file. */
function toRefusal(error: unknown): never {
  if (error instanceof MalformedError || error instanceof RefusedMetadata)
    throw new ApiError(Code.uploadFailed, error.message);
  throw error;
}
