/** U2F registrations, and U2F keys behind CTAP2, prove a model. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../daemon/proofs/judge/certificate.ts';
import { findPath } from '../../daemon/proofs/judge/path.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { anchor, ask, entry, fidoEvidence, metadataOf, u2fEvidence, verdict } from './fixtures.ts';

const root = authenticatorRoot();
const otherRoot = authenticatorRoot('Other Maker Root');
const ZERO = '00000000-0000-0000-0000-000000000000';

/** Yubico U2F Root CA Serial 457200631 (developers.yubico.com/PKI), in base64. */
const YUBICO_U2F_ROOT =
  'MIIDHjCCAgagAwIBAgIEG0BT9zANBgkqhkiG9w0BAQsFADAuMSwwKgYDVQQDEyNZdWJpY28gVTJGIFJvb3QgQ0EgU2VyaWFsIDQ1NzIwMDYzMTAgFw0xNDA4MDEwMDAwMDBaGA8yMDUwMDkwNDAwMDAwMFowLjEsMCoGA1UEAxMjWXViaWNvIFUyRiBSb290IENBIFNlcmlhbCA0NTcyMDA2MzEwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQC/jwYuhBVlqaiYWEMsrWFisgJ+PtM91eSrpI4TK7U53mwCIawSDHy8vUmk5N2KAj9abvT9NP5SMS1hQi3usxoYGonXQgfO6ZXyUA9a+KAkqdFnBnlyugSeCOep8EdZFfsaRFtMjkwz5Gcz2Py4vIYvCdMHPtwaz0bVuzneueIEz6TnQjE63Rdt2zbwnebwTG5ZybeWSwbzy+BJ34ZHcUhPAY89yJQXuE0IzMZFcEBbPNRbWECRKgjq//qT9nmDOFVlSRCt2wiqPSzluwn+v+suQEBsUjTGMEd25tKXXTkNW21wIWbxeSyUoTXwLvGS6xlwQSgNpk2qXYwf8iXg7VWZAgMBAAGjQjBAMB0GA1UdDgQWBBQgIvz0bNGJhjgpToksyKpP9xv9oDAPBgNVHRMECDAGAQH/AgEAMA4GA1UdDwEB/wQEAwIBBjANBgkqhkiG9w0BAQsFAAOCAQEAjvjuOMDSa+JXFCLyBKsycXtBVZsJ4Ue3LbaEsPY4MYN/hIQ5ZM5p7EjfcnMG4CtYkNsfNHc0AhBLdq45rnT87q/6O3vUEtNMafbhU6kthX7Y+9XFN9NpmYxr+ekVY5xOxi8h9JDIgoMP4VB1uS0aunL1IGqrNooL9mmFnL2kLVVee6/VR6C5+KSTCMCWppMuJIZII2v9o4dkoZ8Y7QRjQlLfYzd3qGtKbw7xaF1UsG/5xUb/Btwb2X2g4InpiB/yt/3CpQXpiWX/K4mBvUKiGn05ZsqeY1gx4g0xLBqcU9psmyPzK+Vsgw2jeRQ5JlKDyqE0hebfC1tvFu0CCrJFcw==';
/** The attestation certificate of a retail key, from the tests of Yubico's java-webauthn-server: its signature declares an unused bit. */
const MISENCODED =
  'MIICGzCCAQWgAwIBAgIEdaP2dTALBgkqhkiG9w0BAQswLjEsMCoGA1UEAxMjWXViaWNvIFUyRiBSb290IENBIFNlcmlhbCA0NTcyMDA2MzEwIBcNMTQwODAxMDAwMDAwWhgPMjA1MDA5MDQwMDAwMDBaMCoxKDAmBgNVBAMMH1l1YmljbyBVMkYgRUUgU2VyaWFsIDE5NzM2Nzk3MzMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQZo35Damtpl81YdmcbhEuXKAr7xDcQzAy5n3ftAAhtBbu8EeGU4ynfSgLonckqX6J2uXLBppTNE3v2bt+Yf8MLoxIwEDAOBgorBgEEAYLECgECBAAwCwYJKoZIhvcNAQELA4IBAQG9LbiNPgs0sQYOHAJcg+lMk+HCsiWRlYVnbT4I/5lnqU907vY17XYAORd432bU3Nnhsbkvjz76kQJGXeNAF4DPANGGlz8JU+LNEVE2PWPGgEM0GXgB7mZN5Sinfy1AoOdO+3c3bfdJQuXlUxHbo+nDpxxKpzq9gr++RbokF1+0JBkMbaA/qLYL4WdhY5NvaOyMvYpO3sBxlzn6FcP67hlotGH1wU7qhCeh+uur7zDeAWVh7c4QtJOXHkLJQfV3Z7ZMvhkIA6jZJAX99hisABU/SSa5DtgX7AfsHwa04h69AAAWDUzSk3HgOXbUd1FaSOPdlVFkG2N2JllFHykyO3zO';

describe('the certificates of Yubico with a misencoded signature', () => {
  const [root, key] = [YUBICO_U2F_ROOT, MISENCODED].map(text => Buffer.from(text, 'base64')) as [Buffer, Buffer];
  const path = (der: Uint8Array) =>
    findPath(readCertificate(der), { anchors: [readCertificate(root)], intermediates: [], at: new Date('2026-11-22') });

  it('are repaired, and keep their fingerprint', () => {
    expect(path(key)).toMatchObject({
      path: [{ der: key, fingerprint: 'd0edc9a91a1677435a953390865d208c55b3183c6759c9b5a7ff494c322558eb' }, {}],
    });
  });

  it('are known by their fingerprint: another certificate with unused bits is not repaired', () => {
    const other = Buffer.from(key);
    other[other.length - 1]! ^= 2;
    expect(path(other)).toEqual({ problem: 'a signature of the path is not valid' });
  });
});

describe('U2F', () => {
  const identifierOf = (authenticator: TestAuthenticator) =>
    createHash('sha1')
      .update(authenticator.certificate.publicKey.export({ type: 'spki', format: 'der' }).subarray(-65))
      .digest('hex');

  it.each(['registration', 'format fido-u2f'])('a %s proves the model that the metadata knows by its key', form => {
    const authenticator = new TestAuthenticator({ root, aaguid: ZERO, kind: 'fido-u2f', certifiedAaguid: null });
    const known = entry(root, {
      aaguid: null,
      keyIdentifiers: [identifierOf(authenticator)],
      description: 'U2F Key 1',
    });
    const asked = ask({ metadata: metadataOf([known]) });
    const evidence = form === 'registration' ? u2fEvidence(authenticator, asked) : fidoEvidence(authenticator, asked);
    expect(verdict(evidence, asked)).toMatchObject({
      rule: null,
      proof: { grade: 'model', method: 'u2f', model: 'U2F Key 1', aaguid: null },
    });
  });

  it('a registration under an imported root reports that the model is the one of the root', () => {
    const authenticator = new TestAuthenticator({ root, aaguid: ZERO, certifiedAaguid: null });
    const asked = ask({ anchors: [anchor(root, { purpose: 'fido' })] });
    const { proof } = verdict(u2fEvidence(authenticator, asked), asked);
    expect(proof).toMatchObject({ grade: 'model', model: 'Test root' });
    expect(proof.warnings).toEqual([expect.stringMatching(/metadata does not describe/)]);
  });

  it('fails for another challenge and a copied certificate', () => {
    const options = { root, aaguid: ZERO, certifiedAaguid: null };
    const trusted = { anchors: [anchor(root, { purpose: 'fido' })] };
    const copied = new TestAuthenticator(options).certificate.der;
    const asked = ask(trusted);
    expect(verdict(u2fEvidence(new TestAuthenticator(options), ask(trusted)), asked).rule).toBe('fido-signature');
    expect(verdict(u2fEvidence(new TestAuthenticator({ ...options, presented: copied }), asked), asked).rule).toBe(
      'fido-signature',
    );
  });

  it('of a maker whose root is not imported proves nothing, but contradicts nothing', () => {
    const asked = ask({ anchors: [anchor(root, { purpose: 'fido' })] });
    const other = new TestAuthenticator({ root: otherRoot, aaguid: ZERO, certifiedAaguid: null });
    expect(verdict(u2fEvidence(other, asked), asked)).toMatchObject({ rule: 'fido-root', proof: { grade: 'claimed' } });
  });
});
