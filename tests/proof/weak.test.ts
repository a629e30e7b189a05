/** Weak or contradictory evidence that a less careful judge would accept. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { clientDataHash, RELYING_PARTY } from '../../daemon/devices/client-data.ts';
import { readAuthenticatorData } from '../../daemon/proofs/judge/authenticator-data.ts';
import { MalformedError } from '../../daemon/proofs/judge/malformed.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { makeCa, makeRoot } from '../support/test-pki.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';
import {
  AAGUID,
  anchor,
  ask,
  cardEvidence,
  entry,
  fidoEvidence,
  metadataOf,
  text,
  u2fEvidence,
  verdict,
} from './fixtures.ts';

const root = authenticatorRoot();
const authenticator = new TestAuthenticator({ root, aaguid: AAGUID });

describe('a path', () => {
  const judged = (trusted: ReturnType<typeof makeRoot>, middle: ReturnType<typeof makeRoot>) => {
    const asked = ask({ anchors: [anchor(trusted)] });
    const card = new TestScp11bCard({ serialNumber: 12_345_678, firmware: [5, 7, 4], formFactor: 3, root: middle });
    const evidence = cardEvidence(card, asked);
    return verdict({ ...evidence, chain: [text(middle.der), ...evidence.chain] }, asked);
  };

  it('may not have a signature with SHA-1', () => {
    const trusted = cardRoot();
    const result = judged(trusted, makeCa('Old CA', trusted, { sha1: true }));
    expect(result).toMatchObject({ rule: 'chain', reason: expect.stringMatching(/algorithm that is not accepted/) });
  });

  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent });
  const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });

  it.each([
    ['an RSA key of 1024 bits', () => rsa(1024), 'chain'],
    ['an RSA key of 2048 bits', () => rsa(2048), null],
    ['an RSA key with a large exponent', () => rsa(2048, 0xfffffffb), 'chain'],
    ['P-384', () => curve('secp384r1'), null],
    ['P-521', () => curve('secp521r1'), null],
    ['secp256k1', () => curve('secp256k1'), 'chain'],
    ['sect571r1', () => curve('sect571r1'), 'chain'],
  ])('with %s', (_, keys, rule) => {
    const trusted = makeRoot('Root', { keys: keys() });
    const result = judged(trusted, makeCa('CA', trusted));
    expect(result.rule).toBe(rule);
    if (rule) expect(result.reason).toMatch(/a key of the path is not one of P-256, .* or RSA with 2048 to 4096 bits/);
  });

  it.each([
    ['P-256', 'prime256v1', 64, /more than 64 signatures/],
    ['P-521', 'secp521r1', 5, /would take too long/],
  ])('is given up after a bounded number of signatures with %s', (_, namedCurve, most, words) => {
    const asked = ask({ anchors: [anchor(cardRoot())] });
    const keys = curve(namedCurve);
    // Each of these has issued each other one.
    const circle = Array.from({ length: 7 }, () => makeRoot('Circle', { keys }));
    const leaf = makeCa('Leaf', circle[0]!);
    const verifying = vi.spyOn(X509Certificate.prototype, 'verify');
    const chain = [...circle, leaf].map(({ der }) => text(der));
    const evidence = { method: 'scp11b', kvn: 1, chain, cardPublicKey: 'AA', receipt: 'AA' } as const;
    expect(verdict(evidence, asked)).toMatchObject({ rule: 'chain', reason: expect.stringMatching(words) });
    expect(verifying.mock.calls.length).toBeLessThanOrEqual(most);
    verifying.mockRestore();
  });
});

describe('an attestation', () => {
  it('may not name an algorithm that its key is not for', () => {
    const asked = ask({ metadata: metadataOf([entry(root)]) });
    const { registryId, serialNumber, challenge } = asked.question;
    const object = authenticator.attestationObject(RELYING_PARTY, clientDataHash(registryId, serialNumber, challenge));
    object[object.indexOf('calg') + 4] = 0x27;
    expect(verdict({ method: 'fido', attestationObject: text(object) }, asked)).toMatchObject({
      rule: 'fido-certificate',
      reason: expect.stringMatching(/algorithm -8 does not match its key/),
    });
  });

  it('of a U2F key may not come with the certificate of a CA', () => {
    const asked = ask({ anchors: [anchor(root, { purpose: 'fido' })] });
    const impostor = new TestAuthenticator({ root, aaguid: AAGUID, presented: makeCa('CA', root).der });
    expect(verdict(u2fEvidence(impostor, asked), asked)).toMatchObject({
      rule: 'fido-certificate',
      reason: expect.stringMatching(/the certificate of a CA/),
    });
  });

  it('of a model that will be revoked counts until then, with a warning', () => {
    const report = { status: 'REVOKED', effectiveDate: '2026-11-23', certificate: null };
    const asked = ask({ metadata: metadataOf([entry(root, { statusReports: [report] })]) });
    const evidence = fidoEvidence(authenticator, asked);
    expect(verdict(evidence, asked).proof).toMatchObject({
      grade: 'model',
      warnings: [expect.stringMatching(/REVOKED from 2026-11-23 on/)],
    });
    const later = { ...asked, question: { ...asked.question, now: new Date('2026-11-23') } };
    expect(verdict(evidence, later).rule).toBe('status');
  });

  it('of a report whose date cannot be read is judged as reported', () => {
    const report = { status: 'REVOKED', effectiveDate: 'soon', certificate: null };
    const asked = ask({ metadata: metadataOf([entry(root, { statusReports: [report] })]) });
    expect(verdict(fidoEvidence(authenticator, asked), asked).rule).toBe('status');
  });
});

describe('authenticator data', () => {
  /** Flags, a credential id of one byte, and an empty map as its key; then what follows. */
  const data = (flags: number, after: string) =>
    Buffer.concat([Buffer.alloc(32), Uint8Array.of(flags), Buffer.alloc(20), Buffer.from(`000101a0${after}`, 'hex')]);

  it.each([
    ['a credential', 0x41, ''],
    ['a credential and extensions', 0xc1, 'a0'],
    ['a credential that is backed up', 0x59, ''],
  ])('has %s', (_, flags, after) => {
    expect(readAuthenticatorData(data(flags, after)).touched).toBe(true);
  });

  it.each([
    ['bytes after the extensions', 0xc1, 'a000'],
    ['extensions that are not a map', 0xc1, '00'],
    ['extensions that are not announced', 0x41, 'a0'],
    ['a credential that is backed up but must not be', 0x51, ''],
  ])('may not have %s', (_, flags, after) => {
    expect(() => readAuthenticatorData(data(flags, after))).toThrow(MalformedError);
  });
});
