/** Certificates under roots of the tests' own, with any extension and any mistake. */
import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bitString, boolean, der, integer, octetString, oid, sequence, time, utf8 } from './test-der.ts';

export interface TestExtension {
  readonly id: string;
  readonly value: Uint8Array;
  readonly critical?: boolean;
}

export interface TestCertificate {
  readonly der: Buffer;
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  readonly subject: Buffer;
  /** SHA-256 of the DER in hex. */
  readonly fingerprint: string;
}

export interface CertificateOptions {
  /** Attributes of the subject by their object identifier, in order. */
  readonly subject: Readonly<Record<string, string>>;
  /** Absent: self-signed. */
  readonly issuer?: TestCertificate;
  readonly extensions?: readonly TestExtension[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly keys?: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  readonly version?: 1 | 3;
  /** A signature of ECDSA with SHA-1, which does not count. */
  readonly sha1?: true;
  /** An RSA signer signs by RSASSA-PSS with this hash; with SHA-1 the parameters are empty, as it is their default. */
  readonly pss?: 'sha1' | 'sha256';
}

export const NAME = { common: '2.5.4.3', country: '2.5.4.6', organization: '2.5.4.10', unit: '2.5.4.11' } as const;

/** A pair of P-256. */
export const ecKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

const nameOf = (attributes: Readonly<Record<string, string>>) =>
  sequence(...Object.entries(attributes).map(([id, text]) => der(0x31, sequence(oid(id), utf8(text)))));

const extensionOf = ({ id, value, critical }: TestExtension) =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octetString(value));

/** Parameters of RSASSA-PSS with a salt of 20 bytes. */
function pssParameters(hash: 'sha1' | 'sha256'): Buffer {
  if (hash === 'sha1') return sequence();
  const sha256 = sequence(oid('2.16.840.1.101.3.4.2.1'));
  return sequence(der(0xa0, sha256), der(0xa1, sequence(oid('1.2.840.113549.1.1.8'), sha256)));
}

let serial = 1;

export function makeCertificate(options: CertificateOptions): TestCertificate {
  const { privateKey, publicKey } = options.keys ?? ecKeys();
  const subject = nameOf(options.subject);
  const signer = options.issuer?.key ?? privateKey;
  const rsa = signer.asymmetricKeyType === 'rsa';
  const algorithm = options.pss
    ? sequence(oid('1.2.840.113549.1.1.10'), pssParameters(options.pss))
    : rsa
      ? sequence(oid('1.2.840.113549.1.1.11'), der(0x05))
      : sequence(oid(options.sha1 ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'));
  const version3 = options.version !== 1;
  const tbs = sequence(
    ...(version3 ? [der(0xa0, integer(2))] : []),
    integer(serial++),
    algorithm,
    options.issuer?.subject ?? subject,
    sequence(time(options.notBefore ?? new Date('2020-01-01')), time(options.notAfter ?? new Date('2060-01-01'))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(version3 && options.extensions?.length ? [der(0xa3, sequence(...options.extensions.map(extensionOf)))] : []),
  );
  const signature = options.pss
    ? sign(options.pss, tbs, { key: signer, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 20 })
    : sign(options.sha1 ? 'sha1' : 'sha256', tbs, signer);
  const whole = sequence(tbs, algorithm, bitString(signature));
  return {
    der: whole,
    key: privateKey,
    publicKey,
    subject,
    fingerprint: createHash('sha256').update(whole).digest('hex'),
  };
}

export const basicConstraints = (ca: boolean, pathLength?: number): TestExtension => ({
  id: '2.5.29.19',
  critical: true,
  value: sequence(...(ca ? [boolean(true)] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])),
});

/** Bits by their position: 0 digitalSignature, 4 keyAgreement, 5 keyCertSign. */
export function keyUsage(...bits: readonly number[]): TestExtension {
  const byte = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  const unused = byte === 0 ? 0 : 31 - Math.clz32(byte & -byte);
  return { id: '2.5.29.15', critical: true, value: bitString(Uint8Array.of(byte), unused) };
}

/** GeneralNames. */
export const dns = (name: string): Buffer => der(0x82, Buffer.from(name));
export const altNames = (...names: readonly Uint8Array[]): TestExtension => ({
  id: '2.5.29.17',
  value: sequence(...names),
});

export const extendedKeyUsage = (...ids: readonly string[]): TestExtension => ({
  id: '2.5.29.37',
  value: sequence(...ids.map(oid)),
});

/** A list of GeneralNames: permitted (0xa0) or excluded (0xa1). Not critical. */
export const nameConstraints = (list: 0xa0 | 0xa1, ...names: readonly Uint8Array[]): TestExtension => ({
  id: '2.5.29.30',
  value: sequence(der(list, ...names.map(name => sequence(name)))),
});

/** A root of this name, with another key each time. */
export function makeRoot(common: string, options: Partial<CertificateOptions> = {}): TestCertificate {
  return makeCertificate({
    subject: { [NAME.common]: common },
    extensions: [basicConstraints(true), keyUsage(5)],
    ...options,
  });
}

/** A CA below `issuer`. */
export function makeCa(
  common: string,
  issuer: TestCertificate,
  options: Partial<CertificateOptions> = {},
): TestCertificate {
  return makeRoot(common, { issuer, ...options });
}

/** An uncompressed point of a key of P-256. */
export function pointOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' }).subarray(-65);
}

/** The private scalar of a key of P-256: 32 bytes. */
export function scalarOf(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).d!, 'base64url');
}

/** The certificate in PEM. */
export const pemOf = ({ der }: TestCertificate): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
