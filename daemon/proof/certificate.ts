/** Certificates (RFC 5280): what node:crypto reads, and the extensions that it does not show, by the strict reader. */
import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import {
  bitsOf,
  booleanOf,
  childrenOf,
  type DerElement,
  expectTag,
  integerBytes,
  octetsOf,
  oidOf,
  readDer,
  TAG,
  timeOf,
  unsignedOf,
} from './der.ts';
import { MalformedError } from './malformed.ts';

/** An extension of a certificate. */
interface Extension {
  readonly critical: boolean;
  /** What the OCTET STRING of the extension contains. */
  readonly value: Uint8Array;
}

/** Bits of the key usage extension (RFC 5280, 4.2.1.3), as positions from the first bit. */
export const KEY_USAGE = { digitalSignature: 0, keyAgreement: 4, keyCertSign: 5 } as const;

/** A certificate that was read. */
export interface Certificate {
  readonly der: Uint8Array;
  /** SHA-256 of the DER in lower-case hex. */
  readonly fingerprint: string;
  readonly x509: X509Certificate;
  /** 1, 2 or 3. */
  readonly version: number;
  readonly signatureAlgorithm: string;
  /** Names as DER: they are compared byte by byte. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** Texts of the subject by the object identifier of their attribute. */
  readonly subjectTexts: ReadonlyMap<string, readonly string[]>;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Contents of the bit string of the subject's public key. */
  readonly publicKeyBits: Uint8Array;
  readonly extensions: ReadonlyMap<string, Extension>;
  /** From basicConstraints; false if the extension is absent. */
  readonly ca: boolean;
  /** Whether basicConstraints is present. */
  readonly constrained: boolean;
  /** Most intermediate certificates that may follow; null if it is not limited. */
  readonly pathLength: number | null;
  /** Positions of the bits that are set; null if the extension is absent. */
  readonly keyUsage: ReadonlySet<number> | null;
  /** Extended key usages; null if the extension is absent. */
  readonly extendedKeyUsage: readonly string[] | null;
  /** DNS names of the subject alternative name. */
  readonly dnsNames: readonly string[];
}

/** Object identifiers of extensions that are read here. */
export const EXTENSION = {
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
} as const;

const malformed = (problem: string, cause?: unknown) =>
  new MalformedError('certificate', problem, cause === undefined ? undefined : { cause });

/** Reads one certificate in DER. Throws MalformedError. */
export function readCertificate(der: Uint8Array): Certificate {
  const [tbs, algorithm, signature, ...more] = childrenOf(readDer(der, TAG.sequence));
  if (!signature || more.length > 0) throw malformed('it does not consist of three parts');
  bitsOf(signature);
  const fields = tbsFields(childrenOf(expectTag(tbs, TAG.sequence)));
  const signatureAlgorithm = oidOf(childrenOf(expectTag(algorithm, TAG.sequence))[0]);
  if (!same(algorithm!.whole, fields.algorithm.whole)) throw malformed('it names two signature algorithms');
  const { algorithm: _, ...rest } = fields;
  return {
    der,
    fingerprint: createHash('sha256').update(der).digest('hex'),
    x509: nodeCertificate(der),
    signatureAlgorithm,
    ...rest,
    ...knownExtensions(fields.extensions),
  };
}

function nodeCertificate(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (cause) {
    throw malformed('node:crypto cannot read it', cause);
  }
}

/** The public key of a certificate. Throws MalformedError if it is of a kind that node:crypto does not know. */
export function publicKeyOf({ x509 }: Certificate): KeyObject {
  try {
    return x509.publicKey;
  } catch (cause) {
    throw malformed('a public key of this kind is not supported', cause);
  }
}

/** Whether two byte strings are equal. Not for secrets. */
export function same(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function tbsFields(parts: readonly DerElement[]) {
  const versioned = parts[0]?.tag === 0xa0;
  const version = versioned ? Number(unsignedOf(readDer(parts[0]!.contents))) + 1 : 1;
  if (version > 3 || (versioned && version === 1)) throw malformed('a version that does not exist');
  const [serial, algorithm, issuer, validity, subject, publicKey, ...optional] = versioned ? parts.slice(1) : parts;
  integerBytes(serial);
  const [notBefore, notAfter, ...moreTimes] = childrenOf(expectTag(validity, TAG.sequence));
  if (moreTimes.length > 0) throw malformed('more than two times of validity');
  const [, keyBits, ...moreKey] = childrenOf(expectTag(publicKey, TAG.sequence));
  if (moreKey.length > 0) throw malformed('a public key of more than two parts');
  return {
    version,
    algorithm: expectTag(algorithm, TAG.sequence),
    issuer: expectTag(issuer, TAG.sequence).whole,
    subject: expectTag(subject, TAG.sequence).whole,
    subjectTexts: textsOf(subject!),
    notBefore: timeOf(notBefore),
    notAfter: timeOf(notAfter),
    publicKeyBits: bitsOf(keyBits).bytes,
    extensions: extensionsOf(optional, version),
  };
}

const textTags: ReadonlySet<number> = new Set([TAG.utf8String, TAG.printableString, TAG.ia5String]);

/** The texts of a name. Values of other types are left out: no rule needs them. */
function textsOf(name: DerElement): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const set of childrenOf(name)) {
    for (const pair of childrenOf(expectTag(set, TAG.set))) {
      const [type, value] = childrenOf(expectTag(pair, TAG.sequence));
      const id = oidOf(type);
      if (!value || !textTags.has(value.tag)) continue;
      texts.set(id, [...(texts.get(id) ?? []), Buffer.from(value.contents).toString('utf8')]);
    }
  }
  return texts;
}

function extensionsOf(optional: readonly DerElement[], version: number): Map<string, Extension> {
  const found = new Map<string, Extension>();
  const wrapped = optional.find(({ tag }) => tag === 0xa3);
  if (!wrapped) return found;
  if (version !== 3) throw malformed('only version 3 has extensions');
  for (const extension of childrenOf(readDer(wrapped.contents, TAG.sequence))) {
    const [id, flagOrValue, value, ...more] = childrenOf(expectTag(extension, TAG.sequence));
    if (more.length > 0) throw malformed('an extension of more than three parts');
    const name = oidOf(id);
    if (found.has(name)) throw malformed(`extension ${name} occurs twice`);
    found.set(name, {
      critical: value ? booleanOf(flagOrValue) : false,
      value: octetsOf(value ?? flagOrValue),
    });
  }
  return found;
}

function knownExtensions(extensions: ReadonlyMap<string, Extension>) {
  const constraints = extensions.get(EXTENSION.basicConstraints);
  const usage = extensions.get(EXTENSION.keyUsage);
  const extended = extensions.get(EXTENSION.extendedKeyUsage);
  const names = extensions.get(EXTENSION.subjectAltName);
  return {
    constrained: constraints !== undefined,
    ...basicConstraints(constraints),
    keyUsage: usage ? setBits(usage.value) : null,
    extendedKeyUsage: extended ? childrenOf(readDer(extended.value, TAG.sequence)).map(oidOf) : null,
    dnsNames: names ? dnsNames(names.value) : [],
  };
}

function basicConstraints(extension: Extension | undefined): { ca: boolean; pathLength: number | null } {
  if (!extension) return { ca: false, pathLength: null };
  const parts = childrenOf(readDer(extension.value, TAG.sequence));
  const ca = parts[0]?.tag === TAG.boolean ? booleanOf(parts.shift()) : false;
  const length = parts.length > 0 ? unsignedOf(parts.shift()) : null;
  if (parts.length > 0) throw malformed('basicConstraints has more than two parts');
  return { ca, pathLength: length === null ? null : Number(length) };
}

function setBits(value: Uint8Array): Set<number> {
  const { bytes } = bitsOf(readDer(value));
  const found = new Set<number>();
  for (let bit = 0; bit < Math.min(bytes.length, 2) * 8; bit++)
    if (bytes[bit >> 3]! & (0x80 >> (bit & 7))) found.add(bit);
  return found;
}

/** Tag of a DNS name in GeneralNames. */
const DNS_NAME = 0x82;

function dnsNames(value: Uint8Array): string[] {
  return childrenOf(readDer(value, TAG.sequence))
    .filter(({ tag }) => tag === DNS_NAME)
    .map(({ contents }) => Buffer.from(contents).toString('latin1').toLowerCase());
}
