/** Signs FIDO metadata BLOBs under a root of the tests' own. */
import { generateKeyPairSync, sign } from 'node:crypto';
import {
  altNames,
  type CertificateOptions,
  dns,
  makeCa,
  makeCertificate,
  makeRoot,
  NAME,
  type TestCertificate,
  type TestExtension,
} from './test-pki.ts';

export interface BlobOptions {
  readonly number?: number;
  readonly nextUpdate?: string;
  readonly entries?: readonly unknown[];
  /** Name in the certificate of the signer. */
  readonly signer?: string;
  readonly algorithm?: 'RS256' | 'ES256';
  readonly root: TestCertificate;
  /** Bits of an RSA key of the signer: 2048 if absent. */
  readonly bits?: number;
  /** GeneralNames of the signer beside its DNS name. */
  readonly altNames?: readonly Uint8Array[];
  /** Extensions of the signer's certificate beside its names. */
  readonly extensions?: readonly TestExtension[];
  /** The CA between root and signer. */
  readonly ca?: Partial<CertificateOptions>;
  /** An ES256 signature in DER, which a JWT does not have. */
  readonly derSignature?: true;
  /** JSON of the payload, instead of one made from the other options. */
  readonly payload?: string;
  readonly header?: Readonly<Record<string, unknown>>;
}

export const systemRoot = (name = 'Test System Root') => makeRoot(name);

/** An entry as the FIDO Alliance writes it. */
export const blobEntry = (aaguid: string, root: TestCertificate, changes: Readonly<Record<string, unknown>> = {}) => ({
  aaguid,
  metadataStatement: {
    description: 'Test Key 3',
    attestationRootCertificates: [root.der.toString('base64')],
    icon: 'data:image/png;base64,iVBORw0KGgo=',
  },
  statusReports: [{ status: 'FIDO_CERTIFIED_L1', effectiveDate: '2024-01-01' }],
  timeOfLastStatusChange: '2024-01-01',
  ...changes,
});

export function makeBlob(options: BlobOptions): Buffer {
  const algorithm = options.algorithm ?? 'RS256';
  const keys =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: options.bits ?? 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const ca = makeCa('Test System CA', options.root, options.ca);
  const name = options.signer ?? 'mds.fidoalliance.org';
  const extensions = [altNames(dns(name), ...(options.altNames ?? [])), ...(options.extensions ?? [])];
  const leaf = makeCertificate({ subject: { [NAME.common]: name }, issuer: ca, extensions, keys });
  const x5c = [leaf, ca].map(({ der }) => der.toString('base64'));
  const header = JSON.stringify({ alg: algorithm, typ: 'JWT', x5c, ...options.header });
  const payload =
    options.payload ??
    JSON.stringify({
      legalHeader: 'Test',
      no: options.number ?? 80,
      nextUpdate: options.nextUpdate ?? '2026-12-01',
      entries: options.entries ?? [],
    });
  const signed = [header, payload].map(part => Buffer.from(part).toString('base64url')).join('.');
  const key =
    algorithm === 'RS256' || options.derSignature
      ? keys.privateKey
      : { key: keys.privateKey, dsaEncoding: 'ieee-p1363' as const };
  return Buffer.from(`${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`);
}
