/** FIDO metadata BLOBs (FIDO Metadata Service 3.1.1, 3.1.7): a JWT of the FIDO Alliance, checked against the roots of the system. */
import { createVerify } from 'node:crypto';
import { isObject } from '../../../src/contract/json-object.ts';
import { type Certificate, KEY_USAGE, publicKeyOf, readCertificate } from './certificate.ts';
import { readable } from './finding.ts';
import { entryOf } from './metadata-entry.ts';
import { malformed, readPayload, type TimeBudget } from './metadata-json.ts';
import { findPath } from './path.ts';
import { STRONG_KEYS, signatureWork } from './signature-work.ts';
import type { Metadata, MetadataEntry, MetadataIndex } from './types.ts';

/** Largest BLOB in bytes. Those of 2026 have some 7 MB. */
const MAX_BLOB = 32 * 1024 * 1024;
/** The name that the certificate of the signer must have. */
const METADATA_SIGNER = 'mds.fidoalliance.org';

/** Conditions that a BLOB is checked against. */
interface BlobContext {
  /** DER of the certificates to which the signer may lead: the roots of the system. */
  readonly roots: readonly Uint8Array[];
  /** Number of the BLOB that was imported last; null if none was. */
  readonly currentNumber: number | null;
  readonly now: Date;
  readonly budget: TimeBudget;
}

/** A BLOB that was accepted, and what to know about it. */
interface AcceptedBlob {
  readonly metadata: Metadata;
  readonly warnings: readonly string[];
}

/** Why a BLOB that can be read is refused. */
export class RefusedMetadata extends Error {
  override name = 'RefusedMetadata';
  readonly rule: 'signer' | 'chain' | 'signature' | 'number';

  constructor(rule: RefusedMetadata['rule'], message: string) {
    super(message);
    this.rule = rule;
  }
}

/** Checks and reads a BLOB without holding the event loop. Throws MalformedError or RefusedMetadata. */
export async function readBlob(blob: Uint8Array, context: BlobContext): Promise<AcceptedBlob> {
  const jwt = partsOf(blob);
  const { algorithm, certificates } = headerOf(jwt.header);
  checkSigner(certificates, context);
  await checkSignature(jwt, algorithm, certificates[0]!, context.budget);
  const { members, entries } = await readPayload(await decoded(jwt.payload, context.budget), context.budget);
  const number = numberOf(members.get('no'), context.currentNumber);
  const nextUpdate = dateOf(members.get('nextUpdate'));
  const read: MetadataEntry[] = [];
  for await (const value of entries) {
    const entry = entryOf(value);
    if (entry) read.push(entry);
  }
  const late = context.now >= new Date(nextUpdate);
  return {
    metadata: { number, nextUpdate, entries: read },
    warnings: late ? [`The metadata is out of date: the next one was due on ${nextUpdate}.`] : [],
  };
}

interface Jwt {
  readonly header: Buffer;
  readonly payload: Buffer;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

const DOT = 0x2e;

function partsOf(blob: Uint8Array): Jwt {
  if (blob.length > MAX_BLOB) throw malformed(`more than ${MAX_BLOB} bytes`);
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  const first = bytes.indexOf(DOT);
  const second = bytes.indexOf(DOT, first + 1);
  if (first < 0 || second < 0 || bytes.indexOf(DOT, second + 1) >= 0) throw malformed('it is not a JWT of three parts');
  return {
    header: bytes.subarray(0, first),
    payload: bytes.subarray(first + 1, second),
    signed: bytes.subarray(0, second),
    // Files often end with a line break.
    signature: Buffer.from(bytes.toString('latin1', second + 1, second + 2048).trim(), 'base64url'),
  };
}

/** Largest header in bytes: it carries the certificates of the signer. */
const MAX_HEADER = 64 * 1024;
/** Most certificates in a header. */
const MAX_CERTIFICATES = 8;

function headerOf(part: Buffer): { algorithm: 'RS256' | 'ES256'; certificates: Certificate[] } {
  if (part.length > MAX_HEADER) throw malformed(`its header has more than ${MAX_HEADER} bytes`);
  const header = jsonObject(Buffer.from(part.toString('latin1'), 'base64url').toString('utf8'));
  const { alg, x5c } = header;
  if (alg !== 'RS256' && alg !== 'ES256') throw malformed('its algorithm is neither RS256 nor ES256');
  if ('crit' in header) throw malformed('its header has critical parameters');
  if (!Array.isArray(x5c) || x5c.length === 0 || x5c.length > MAX_CERTIFICATES)
    throw malformed('its header does not carry the certificates of the signer');
  const certificates = x5c.map(text => {
    if (typeof text !== 'string') throw malformed('a certificate of the signer is not a text');
    return readCertificate(Buffer.from(text, 'base64'));
  });
  return { algorithm: alg, certificates };
}

function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed('its header is not JSON', cause);
  }
  if (!isObject(value)) throw malformed('its header is not an object');
  return value;
}

function checkSigner(certificates: readonly Certificate[], { roots, now }: BlobContext): void {
  const [leaf, ...intermediates] = certificates as [Certificate, ...Certificate[]];
  if (!leaf.dnsNames.includes(METADATA_SIGNER))
    throw new RefusedMetadata(
      'signer',
      `the metadata is not signed by ${METADATA_SIGNER} but by ${leaf.dnsNames.join(', ').slice(0, 200) || 'a certificate without a name'}`,
    );
  const issuers = certificates.map(({ issuer }) => issuer);
  const named = roots.filter(root =>
    issuers.some(issuer => Buffer.from(root.buffer, root.byteOffset, root.length).includes(issuer)),
  );
  const found = findPath(leaf, { anchors: readable(named), intermediates, at: now });
  const problem = 'problem' in found ? found.problem : usageProblem(found.path);
  if (problem)
    throw new RefusedMetadata('chain', `the signer of the metadata is not trusted by this system: ${problem}`);
}

/** Extended key usages that allow a certificate to speak for a server: serverAuth and any. */
const SERVER_USAGES: readonly string[] = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** Why the certificates of the path, leaf first and root last, are not for a server that signs, or null. */
function usageProblem(path: readonly Certificate[]): string | null {
  const [leaf] = path as [Certificate, ...Certificate[]];
  if (leaf.keyUsage && !leaf.keyUsage.has(KEY_USAGE.digitalSignature)) return 'its key usage does not allow it to sign';
  if (path.slice(0, -1).some(({ extendedKeyUsage: usage }) => usage && !usage.some(id => SERVER_USAGES.includes(id))))
    return 'the extended key usage of a certificate of the path does not name servers';
  return signatureWork(publicKeyOf(leaf)) === null ? `its key is not ${STRONG_KEYS}` : null;
}

/** Bytes that are handled between two looks at the clock; a multiple of 4. */
const STEP = 512 * 1024;

async function checkSignature(
  { signed, signature }: Jwt,
  algorithm: 'RS256' | 'ES256',
  leaf: Certificate,
  budget: TimeBudget,
): Promise<void> {
  const key = publicKeyOf(leaf);
  const refused = () => new RefusedMetadata('signature', 'the signature of the metadata is not valid');
  const fits =
    algorithm === 'RS256'
      ? key.asymmetricKeyType === 'rsa'
      : key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  if (!fits) throw refused();
  const verify = createVerify('sha256');
  for (let at = 0; at < signed.length; at += STEP) {
    if (budget.over) await budget.pass();
    verify.update(signed.subarray(at, at + STEP));
  }
  // node:crypto throws if a signature in P1363 does not have 64 bytes, as one in DER.
  const sized = algorithm === 'RS256' || signature.length === 64;
  if (!sized || !verify.verify(algorithm === 'RS256' ? key : { key, dsaEncoding: 'ieee-p1363' }, signature))
    throw refused();
}

async function decoded(part: Buffer, budget: TimeBudget): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < part.length; at += STEP) {
    if (budget.over) await budget.pass();
    pieces.push(Buffer.from(part.toString('latin1', at, Math.min(at + STEP, part.length)), 'base64url'));
  }
  return Buffer.concat(pieces);
}

function numberOf(value: unknown, current: number | null): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed('its number is not a whole number');
  const number = value as number;
  if (current !== null && number < current)
    throw new RefusedMetadata('number', `the metadata has number ${number}, but number ${current} was imported before`);
  return number;
}

function dateOf(value: unknown): string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value) || Number.isNaN(Date.parse(value)))
    throw malformed('its nextUpdate is not a date');
  return value;
}

/** Looks entries up by what attestations name. Of two entries with the same name the first one counts. */
export function indexMetadata({ number, nextUpdate, entries }: Metadata): MetadataIndex {
  const aaguids = new Map<string, MetadataEntry>();
  const identifiers = new Map<string, MetadataEntry>();
  for (const entry of entries) {
    if (entry.aaguid !== null && !aaguids.has(entry.aaguid)) aaguids.set(entry.aaguid, entry);
    for (const each of entry.keyIdentifiers) if (!identifiers.has(each)) identifiers.set(each, entry);
  }
  return {
    number,
    nextUpdate,
    byAaguid: aaguid => aaguids.get(aaguid),
    byKeyIdentifier: identifier => identifiers.get(identifier),
  };
}
