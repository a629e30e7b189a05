/** The test authenticators and certificates, as programs judge them that know nothing of this project; and the reverse. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clientDataHash, RELYING_PARTY, relyingPartyHash } from '../../daemon/devices/client-data.ts';
import { readCertificate } from '../../daemon/proofs/judge/certificate.ts';
import { findPath } from '../../daemon/proofs/judge/path.ts';
import { expectBytes, expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { findTool, needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { writeCbor } from '../support/test-cbor.ts';
import { makeCa, makeCertificate, NAME } from '../support/test-pki.ts';
import { AAGUID, text } from './fixtures.ts';

const root = authenticatorRoot();
const hash = clientDataHash('INST-0001', '12345678', Buffer.alloc(32, 3));

/** The attestation of the authenticator, in parts. */
function attested(authenticator: TestAuthenticator) {
  const object = authenticator.attestationObject(RELYING_PARTY, hash);
  const map = expectMap(readCbor(object), 'object');
  const statement = expectMap(map.get('attStmt'), 'statement');
  return {
    object,
    data: expectBytes(map.get('authData'), 'data'),
    signature: expectBytes(statement.get('sig'), 'signature'),
  };
}

needs('fido2-cred', 'fido2-tools')('fido2-cred', () => {
  const verify = (authenticator: TestAuthenticator, clientData: Uint8Array) => {
    const { data, signature } = attested(authenticator);
    const id = data.subarray(55, 55 + data[53]! * 256 + data[54]!);
    const blobs = [writeCbor(data), id, signature, authenticator.certificate.der].map(blob =>
      Buffer.from(blob).toString('base64'),
    );
    const input = [Buffer.from(clientData).toString('base64'), RELYING_PARTY, 'packed', ...blobs, ''].join('\n');
    return spawnSync(findTool('fido2-cred')!, ['-V'], { input }).status;
  };

  it('accepts the attestation for its challenge and refuses it for another one', () => {
    const authenticator = new TestAuthenticator({ root, aaguid: AAGUID });
    expect(verify(authenticator, hash)).toBe(0);
    expect(verify(authenticator, Buffer.alloc(32))).toBe(1);
  });
});

const python = '/usr/bin/python3';
const hasFido = spawnSync(python, ['-c', 'import fido2']).status === 0;
/** Verifies an attestation object and its chain with python-fido2; fails with a traceback if it is not valid. */
const judgeInPython = `
import base64, sys
from fido2.attestation import Attestation, verify_x509_chain
try:
    from fido2.webauthn import AttestationObject
except ImportError:  # before 1.0
    from fido2.ctap2 import AttestationObject
value, client, root = [base64.urlsafe_b64decode(line + "===") for line in sys.stdin.read().split()]
attestation = AttestationObject(value)
result = Attestation.for_type(attestation.fmt)().verify(attestation.att_statement, attestation.auth_data, client)
verify_x509_chain(list(result.trust_path) + [root])
print(attestation.fmt, attestation.auth_data.credential_data.aaguid.hex())
`;

needs(hasFido ? [] : ['python3-fido2'])('python-fido2', () => {
  it.each([
    ['packed', AAGUID],
    ['fido-u2f', '00000000-0000-0000-0000-000000000000'],
  ] as const)('accepts the attestation of format %s, and its chain', (kind, aaguid) => {
    const { object } = attested(new TestAuthenticator({ root, aaguid: AAGUID, kind }));
    const input = [object, hash, root.der].map(text).join('\n');
    expect(execFileSync(python, ['-c', judgeInPython], { input, encoding: 'utf8' }).trim()).toBe(
      `${kind} ${aaguid.replaceAll('-', '')}`,
    );
    const wrong = [object, Buffer.alloc(32), root.der].map(text).join('\n');
    expect(spawnSync(python, ['-c', judgeInPython], { input: wrong }).status).not.toBe(0);
  });
});

needs('openssl')('openssl', () => {
  const openssl = (...args: readonly string[]) =>
    execFileSync(findTool('openssl')!, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const pem = (der: Uint8Array) =>
    `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

  it('accepts the chains of the tests', () => {
    const folder = temporaryFolder();
    const ca = makeCa('Test CA', root);
    const leaf = makeCertificate({ subject: { [NAME.common]: 'Leaf' }, issuer: ca });
    const [anchor, middle, last] = ['root', 'ca', 'leaf'].map(name => join(folder, `${name}.pem`)) as [
      string,
      string,
      string,
    ];
    writeFileSync(anchor, pem(root.der));
    writeFileSync(middle, pem(ca.der));
    writeFileSync(last, pem(leaf.der));
    expect(openssl('verify', '-CAfile', anchor, '-untrusted', middle, last)).toMatch(/OK/);
  });

  it('makes chains that the judge reads as openssl means them', () => {
    const folder = temporaryFolder();
    const file = (name: string) => join(folder, name);
    const make = (name: string, issuer: string | null, ...extensions: readonly string[]) =>
      openssl(
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'],
        ...[
          '-keyout',
          file(`${name}.key`),
          '-out',
          file(`${name}.pem`),
          '-subj',
          `/C=SE/O=Maker/OU=Authenticator Attestation/CN=${name}`,
        ],
        ...(issuer ? ['-CA', file(`${issuer}.pem`), '-CAkey', file(`${issuer}.key`)] : []),
        ...extensions.flatMap(extension => ['-addext', extension]),
      );
    make('root', null, 'basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign');
    make('ca', 'root', 'basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=critical,keyCertSign');
    make(
      'leaf',
      'ca',
      'basicConstraints=CA:FALSE',
      'keyUsage=critical,keyAgreement',
      '1.3.6.1.4.1.41482.7.2=ASN1:INTEGER:12345678',
      'subjectAltName=DNS:mds.fidoalliance.org',
    );
    const [anchor, ca, leaf] = ['root', 'ca', 'leaf'].map(name => {
      const der = Buffer.from(
        readFileSync(file(`${name}.pem`), 'latin1').replace(/-----[A-Z ]+-----|\s/g, ''),
        'base64',
      );
      return readCertificate(der);
    }) as [ReturnType<typeof readCertificate>, ReturnType<typeof readCertificate>, ReturnType<typeof readCertificate>];
    expect(ca).toMatchObject({ version: 3, ca: true, pathLength: 0, keyUsage: new Set([5]) });
    expect(leaf).toMatchObject({
      ca: false,
      constrained: true,
      keyUsage: new Set([4]),
      dnsNames: ['mds.fidoalliance.org'],
    });
    expect(Buffer.from(leaf.extensions.get('1.3.6.1.4.1.41482.7.2')!.value).toString('hex')).toBe('020400bc614e');
    expect(findPath(leaf, { anchors: [anchor], intermediates: [ca], at: new Date() })).toMatchObject({
      path: [leaf, ca, anchor],
    });
  });
});

it('client data hash and relying party are what the documentation states', () => {
  const challenge = Buffer.from('00'.repeat(31).concat('ff'), 'hex');
  const expected = createHash('sha256')
    .update(Buffer.concat([Buffer.from('devmgr-proof-v1\0INST-1\0ABC-7\0'), challenge]))
    .digest();
  expect(Buffer.from(clientDataHash('INST-1', 'ABC-7', challenge))).toEqual(expected);
  expect(Buffer.from(relyingPartyHash())).toEqual(createHash('sha256').update('devmgr.invalid').digest());
  expect(() => clientDataHash('INST\0', '1', challenge)).toThrow(RangeError);
});
