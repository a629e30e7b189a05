/** Weak or contradictory evidence that a less careful judge would accept. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readAuthenticatorData } from '../../daemon/proof/authenticator-data.ts';
import { clientDataHash, RELYING_PARTY } from '../../daemon/proof/client-data.ts';
import { MalformedError } from '../../daemon/proof/malformed.ts';
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
    expect(result).toMatchObject({ rule: 'chain', reason: expect.stringMatching(/algorithm that does not count/) });
  });

  it.each([
    [1024, 'chain'],
    [2048, null],
  ])('with an RSA key of %i bits', (modulusLength, rule) => {
    const trusted = makeRoot('RSA root', { keys: generateKeyPairSync('rsa', { modulusLength }) });
    expect(judged(trusted, makeCa('CA', trusted)).rule).toBe(rule);
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
      reason: expect.stringMatching(/algorithm -8 does not go with its key/),
    });
  });

  it('of a U2F key may not come with the certificate of a CA', () => {
    const asked = ask({ anchors: [anchor(root, { purpose: 'fido' })] });
    const impostor = new TestAuthenticator({ root, aaguid: AAGUID, presented: makeCa('CA', root).der });
    expect(verdict(u2fEvidence(impostor, asked), asked)).toMatchObject({
      rule: 'fido-certificate',
      reason: expect.stringMatching(/one of a CA/),
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
