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
  /** Content of the OCTET STRING of the extension. */
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
  /** RSASSA-PSS: the hash of the message and of the mask. Null for another signature, for SHA-1 (the default), and for two hashes. */
  readonly pssHash: string | null;
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
  /** GeneralNames of the subject alternative name. */
  readonly altNames: readonly DerElement[];
  /** DNS names of the subject alternative name, in lower case. */
  readonly dnsNames: readonly string[];
}

/** Object identifiers of extensions that are read here or by a rule. */
export const EXTENSION = {
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  policies: '2.5.29.32',
  extendedKeyUsage: '2.5.29.37',
} as const;

const malformed = (problem: string, cause?: unknown) =>
  new MalformedError('certificate', problem, cause === undefined ? undefined : { cause });

/**
 * Genuine certificates of Yubico's first U2F keys whose RSA signature declares unused bits, by their SHA-256. Source: Yubico's own
 * libraries, which repair them in the same way (php-u2flib-server, FIXCERTS; java-webauthn-server, FIXSHA256).
 */
const misencoded: ReadonlySet<string> = new Set([
  '349bca1031f8c82c4ceca38b9cebf1a69df9fb3b94eed99eb3fb9aa3822d26e8',
  'dd574527df608e47ae45fbba75a2afdd5c20fd94a02419381813cd55a2a3398f',
  '1d8764f0f7cd1352df6150045c8f638e517270e8b5dda1c63ade9c2280240cae',
  'd0edc9a91a1677435a953390865d208c55b3183c6759c9b5a7ff494c322558eb',
  '6073c436dcd064a48127ddbf6032ac1a66fd59a0c24434f070d4e564c124c897',
  'ca993121846c464d666096d35f13bf44c1b05af205f9b4a1e00cf6cc10c5e511',
]);
/** Where the number of unused bits is, counted from the end: the signature has 256 bytes. */
const UNUSED_BITS = -257;

/** Reads one certificate in DER. Throws MalformedError. */
export function readCertificate(der: Uint8Array): Certificate {
  const fingerprint = createHash('sha256').update(der).digest('hex');
  const repaired = misencoded.has(fingerprint) ? der.with(UNUSED_BITS, 0) : der;
  const [tbs, algorithm, signature, ...more] = childrenOf(readDer(repaired, TAG.sequence));
  if (!signature || more.length > 0) throw malformed('it does not consist of three parts');
  bitsOf(signature);
  const fields = tbsFields(childrenOf(expectTag(tbs, TAG.sequence)));
  const [algorithmId, parameters] = childrenOf(expectTag(algorithm, TAG.sequence));
  const signatureAlgorithm = oidOf(algorithmId);
  if (!same(algorithm!.whole, fields.algorithm.whole)) throw malformed('it names two signature algorithms');
  const { algorithm: _, ...rest } = fields;
  return {
    der,
    fingerprint,
    x509: nodeCertificate(repaired),
    signatureAlgorithm,
    pssHash: signatureAlgorithm === RSASSA_PSS ? pssHashOf(parameters) : null,
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

/** Whether it names itself as its issuer: administrators import such certificates as roots, others as intermediates. */
export function isSelfIssued({ issuer, subject }: Certificate): boolean {
  return same(issuer, subject);
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
  const altNames = names ? childrenOf(readDer(names.value, TAG.sequence)) : [];
  return {
    constrained: constraints !== undefined,
    ...basicConstraints(constraints),
    keyUsage: usage ? setBits(usage.value) : null,
    extendedKeyUsage: extended ? childrenOf(readDer(extended.value, TAG.sequence)).map(oidOf) : null,
    altNames,
    dnsNames: altNames.filter(({ tag }) => tag === GENERAL_NAME.dns).map(dnsNameOf),
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

/** Tags of GeneralName. */
export const GENERAL_NAME = { dns: 0x82, directory: 0xa4 } as const;

/** A DNS name in lower case. */
export const dnsNameOf = ({ contents }: DerElement): string => Buffer.from(contents).toString('latin1').toLowerCase();

const RSASSA_PSS = '1.2.840.113549.1.1.10';

/** The hash that the parameters of RSASSA-PSS (RFC 4055, 3.1) name for message and mask alike; null if they differ or one is absent. */
function pssHashOf(parameters: DerElement | undefined): string | null {
  const parts = childrenOf(expectTag(parameters, TAG.sequence));
  const [hash, mask] = [0xa0, 0xa1].map(tag => {
    const part = parts.find(each => each.tag === tag);
    return part ? childrenOf(readDer(part.contents, TAG.sequence)) : [];
  });
  if (!hash?.[0] || !mask?.[1]) return null;
  const named = oidOf(hash[0]);
  return oidOf(childrenOf(expectTag(mask[1], TAG.sequence))[0]) === named ? named : null;
}
