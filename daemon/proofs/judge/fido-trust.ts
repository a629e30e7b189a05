/** Which anchors a FIDO attestation may lead to, and what the metadata reports about the model. */
import { createHash } from 'node:crypto';
import { type Certificate, readCertificate } from './certificate.ts';
import { readable, rootName } from './finding.ts';
import { findPath, isForged } from './path.ts';
import { BrokenRule } from './rules.ts';
import { judgeStatus } from './status.ts';
import type { MetadataEntry, Question } from './types.ts';

/** Trust in one model. */
interface TrustedModel {
  /** Name of the model. */
  readonly model: string;
  readonly root: string;
  readonly metadataNumber: number | null;
  readonly warnings: readonly string[];
}

/** An attestation and the model that it is for. */
interface ModelAttestation {
  /** Attestation certificate first. */
  readonly certificates: readonly Certificate[];
  /** Null: a U2F key. */
  readonly aaguid: string | null;
}

/** Finds the path to an anchor of this very model and judges the reports about it. Throws BrokenRule. */
export function trustedModel({ certificates, aaguid }: ModelAttestation, question: Question): TrustedModel {
  const { trust, provedAt } = question;
  const [leaf, ...chain] = certificates as [Certificate, ...Certificate[]];
  const entry = entryOf(certificates, aaguid, question);
  const imported = trust.anchors.filter(
    anchor =>
      anchor.purpose === 'fido' && (aaguid === null ? anchor.aaguids.length === 0 : anchor.aaguids.includes(aaguid)),
  );
  const anchors = readable([...imported.map(({ der }) => der), ...(entry?.anchors ?? [])]);
  const name = aaguid === null ? 'U2F' : `AAGUID ${aaguid}`;
  if (anchors.length === 0) throw new BrokenRule('no-trust', name);
  const intermediates = [...chain, ...readable(trust.intermediates.map(({ der }) => der))];
  const found = findPath(leaf, { anchors, intermediates, at: provedAt });
  if ('problem' in found) {
    // An honest certificate can have expired, metadata that is out of date can lack the root of a new batch, and any maker of U2F keys has
    // a root of its own.
    const isExpired = certificates.some(({ notBefore, notAfter }) => provedAt < notBefore || provedAt > notAfter);
    const wasTrusted = isExpired && !('problem' in findPath(leaf, { anchors, intermediates, at: leaf.notBefore }));
    const isOutdated = entry !== undefined && metadataWarnings(question).length > 0;
    const isKnown = (aaguid !== null || entry !== undefined) && !isOutdated && !wasTrusted;
    throw new BrokenRule('fido-root', `${name}: ${found.problem}`, {
      isContradiction: isKnown || isForged(found),
    });
  }
  const root = rootName(found.anchor, imported);
  return {
    model: entry?.description ?? root,
    root,
    metadataNumber: entry ? trust.metadata!.number : null,
    warnings: entry
      ? [...metadataWarnings(question), ...judgeStatus(entry, found.path, question)]
      : ['The FIDO metadata does not describe this key: its model is the one of the imported trust anchor.'],
  };
}

function entryOf(
  certificates: readonly Certificate[],
  aaguid: string | null,
  { trust }: Question,
): MetadataEntry | undefined {
  if (aaguid !== null) return trust.metadata?.byAaguid(aaguid);
  for (const certificate of certificates) {
    const identifier = createHash('sha1').update(certificate.publicKeyBits).digest('hex');
    const entry = trust.metadata?.byKeyIdentifier(identifier);
    if (entry) return entry;
  }
  return undefined;
}

function metadataWarnings({ trust, now }: Question): string[] {
  const due = trust.metadata?.nextUpdate;
  if (!due || now < new Date(due)) return [];
  return [`The FIDO metadata is out of date: the next one was due on ${due.slice(0, 10)}.`];
}

/** Most certificates in an attestation. */
const MAX_CERTIFICATES = 8;

/** The certificates of an attestation, from what a CBOR array holds. Throws BrokenRule or MalformedError. */
export function certificatesOf(values: readonly unknown[]): Certificate[] {
  if (values.length > MAX_CERTIFICATES) throw new BrokenRule('malformed', `more than ${MAX_CERTIFICATES} certificates`);
  return values.map(value => {
    if (!(value instanceof Uint8Array)) throw new BrokenRule('malformed', 'a certificate is not a byte string');
    return readCertificate(value);
  });
}
