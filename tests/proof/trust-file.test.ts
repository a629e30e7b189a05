/** Files that an administrator imports. */
import { describe, expect, it } from 'vitest';
import { isSelfIssued } from '../../daemon/proofs/judge/certificate.ts';
import { MalformedError } from '../../daemon/proofs/judge/malformed.ts';
import { certificatesIn, trustFileKind } from '../../daemon/proofs/judge/trust-file.ts';
import { makeBlob, systemRoot } from '../support/test-blob.ts';
import { makeCa, makeRoot } from '../support/test-pki.ts';

const root = makeRoot('Root');
const ca = makeCa('CA', root);
const pem = (der: Uint8Array) =>
  `-----BEGIN CERTIFICATE-----\r\n${Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\r\n')}\r\n-----END CERTIFICATE-----\r\n`;

describe('a file with certificates', () => {
  it('has one in DER', () => {
    expect(trustFileKind(root.der)).toBe('certificates');
    expect(certificatesIn(root.der).map(({ fingerprint }) => fingerprint)).toEqual([root.fingerprint]);
  });

  it('or several in PEM, with text between them', () => {
    const file = Buffer.from(`Our roots\n${pem(root.der)}and\n${pem(ca.der)}`);
    expect(trustFileKind(file)).toBe('certificates');
    expect(certificatesIn(file).map(isSelfIssued)).toEqual([true, false]);
  });

  it.each([
    ['an empty file', ''],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'],
    ['a block that does not end', pem(root.der).replace('-----END', '')],
    ['a block that is not base64', pem(root.der).replace('MII', 'M!I')],
    ['a block with something else', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    ['65 certificates', pem(root.der).repeat(65)],
    ['more than 1 MiB', 'x'.repeat(1024 * 1024 + 1)],
  ])('is not %s', (_, file) => {
    expect(() => certificatesIn(Buffer.from(file))).toThrow(MalformedError);
  });

  it('is not a metadata BLOB', () => {
    expect(trustFileKind(makeBlob({ root: systemRoot() }))).toBe('metadata');
  });
});
