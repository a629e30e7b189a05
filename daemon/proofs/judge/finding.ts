/** Findings: facts that evidence proves if it fulfils all rules. */
import { type Certificate, readCertificate } from './certificate.ts';
import { MalformedError } from './malformed.ts';
import type { TrustedCertificate } from './types.ts';

/** SHA-256 fingerprints of well-known roots. Their certificates are not part of the program: an administrator imports them. */
const knownRoots: ReadonlyMap<string, string> = new Map([
  ['62760c6a6ef91679f454c8902b80fd009825b3f25da90f1fbace2ec6586cd5a8', 'Yubico Attestation Root 1'],
]);

/** Name of an anchor: the name of a well-known root, the label that it was imported with, else its fingerprint. */
export function rootName({ fingerprint }: Certificate, imported: readonly TrustedCertificate[]): string {
  const label = imported.find(each => each.fingerprint === fingerprint)?.label;
  return knownRoots.get(fingerprint) ?? (label || fingerprint);
}

/** Cache of read trust: trust is in memory as long as it is in force, and up to 1,000 certificates are part of each verdict. */
const known = new WeakMap<Uint8Array, Certificate | null>();

/** The certificates of these that can be read. One that cannot be read is not trusted. The bytes must not change. */
export const readable = (ders: readonly Uint8Array[]): Certificate[] => ders.flatMap(der => readableOnce(der) ?? []);

function readableOnce(der: Uint8Array): Certificate | null {
  let certificate = known.get(der);
  if (certificate === undefined) {
    certificate = readOrNull(der);
    known.set(der, certificate);
  }
  return certificate;
}

function readOrNull(der: Uint8Array): Certificate | null {
  try {
    return readCertificate(der);
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}
