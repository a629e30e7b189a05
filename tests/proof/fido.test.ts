/** FIDO attestations prove a model, or a unit; each way to cheat fails with words of its own. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../daemon/proofs/judge/types.ts';
import { type AuthenticatorOptions, authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { octetString } from '../support/test-der.ts';
import {
  basicConstraints,
  keyUsage,
  makeCertificate,
  makeRoot,
  NAME,
  type TestExtension,
} from '../support/test-pki.ts';
import { AAGUID, anchor, ask, entry, fidoEvidence, metadataOf, OTHER_AAGUID, text, verdict } from './fixtures.ts';

const root = authenticatorRoot();
const otherRoot = authenticatorRoot('Other Maker Root');
const trust = {
  metadata: metadataOf([entry(root), entry(otherRoot, { aaguid: OTHER_AAGUID, description: 'Other Key' })]),
};
const genuine: AuthenticatorOptions = { root, aaguid: AAGUID };
const ZERO = '00000000-0000-0000-0000-000000000000';
const serialOctets = (serial: number) => Buffer.from(serial.toString(16).padStart(8, '0'), 'hex');

function judged(
  options: Partial<AuthenticatorOptions> = {},
  question: Parameters<typeof ask>[1] = {},
  trusted: Parameters<typeof ask>[0] = trust,
): Verdict {
  const asked = ask(trusted, question);
  return verdict(fidoEvidence(new TestAuthenticator({ ...genuine, ...options }), asked), asked);
}

describe('a packed attestation', () => {
  it('proves the model', () => {
    expect(judged()).toEqual({
      rule: null,
      reason: null,
      proof: {
        grade: 'model',
        method: 'fido',
        model: 'Test Key 3',
        aaguid: AAGUID,
        firmware: null,
        serial: null,
        root: root.fingerprint,
        metadataNumber: 80,
        provedAt: '2026-11-22T04:00:00.000Z',
        warnings: [],
      },
    });
  });

  it('is read as the response of CTAP2 too', () => {
    const asked = ask(trust);
    const authenticator = new TestAuthenticator(genuine);
    const { question } = asked;
    const hash = createHash('sha256')
      .update(`devmgr-proof-v1\0${question.registryId}\0${question.serialNumber}\0`)
      .update(question.challenge)
      .digest();
    const attestationObject = text(authenticator.makeCredential('devmgr.invalid', hash));
    expect(verdict({ method: 'fido', attestationObject }, asked).proof.grade).toBe('model');
  });

  it('accepts an anchor that is the attestation certificate itself', () => {
    const authenticator = new TestAuthenticator(genuine);
    const asked = ask({ metadata: metadataOf([entry(authenticator.certificate)]) });
    expect(verdict(fidoEvidence(authenticator, asked), asked).proof.grade).toBe('model');
  });

  it.each([
    ['of version 1', { version: 1, extensions: [] }],
    ['without basic constraints', { extensions: [] }],
    ['whose basic constraints deny a CA', { extensions: [basicConstraints(false)] }],
    ['that may not sign certificates', { extensions: [basicConstraints(true), keyUsage(0)] }],
    ['that allows no CA below it', { extensions: [basicConstraints(true, 0)] }],
    [
      'with a critical extension that is not known',
      { extensions: [{ id: '1.2.3.4', value: octetString(Buffer.alloc(1)), critical: true }] },
    ],
    ['that has expired', { notAfter: new Date('2025-01-01') }],
    ['that is not yet valid', { notBefore: new Date('2027-01-01') }],
  ] as const)('accepts a listed root %s: only name and key of an anchor count', (_, options) => {
    const listed = makeRoot('Listed Root', options);
    const trusted = { metadata: metadataOf([entry(listed)]) };
    expect(judged({ root: listed }, {}, trusted).proof).toMatchObject({ grade: 'model', root: listed.fingerprint });
    expect(judged({ root: makeRoot('Listed Root', options) }, {}, trusted).rule).toBe('fido-root');
  });

  it('lets a listed attestation certificate vouch for itself only', () => {
    const listed = new TestAuthenticator(genuine).certificate;
    const trusted = { metadata: metadataOf([entry(listed)]) };
    expect(judged({ root: listed }, {}, trusted)).toMatchObject({
      rule: 'fido-root',
      reason: expect.stringMatching(/issued by one that is not a CA/),
    });
  });

  it('proves a model by an imported root that was imported for this AAGUID', () => {
    const imported = anchor(root, { purpose: 'fido', aaguids: [AAGUID] });
    const { proof } = judged({}, {}, { anchors: [imported] });
    expect(proof).toMatchObject({ grade: 'model', model: 'Test root', root: 'Test root', metadataNumber: null });
  });

  it.each([
    ['was imported for another AAGUID', { purpose: 'fido', aaguids: [OTHER_AAGUID] }],
    ['was imported for cards', { purpose: 'scp11b', aaguids: [AAGUID] }],
    ['was imported without AAGUIDs', { purpose: 'fido', aaguids: [] }],
  ] as const)('is not proved by a root that %s', (_, changes) => {
    expect(judged({}, {}, { anchors: [anchor(root, changes)] })).toMatchObject({
      rule: 'no-trust',
      proof: { grade: 'claimed' },
    });
  });

  it('warns if the metadata is out of date', () => {
    const { proof } = judged({}, { now: new Date('2026-12-02') });
    expect(proof).toMatchObject({
      grade: 'model',
      warnings: ['The FIDO metadata is out of date: the next one was due on 2026-12-01.'],
    });
  });
});

describe('enterprise attestation', () => {
  const maker = { organization: 'Yubico AB', serialOctets: serialOctets(12_345_678) };

  it('proves the unit if the maker writes serial numbers in a known way', () => {
    expect(judged(maker).proof).toMatchObject({ grade: 'unit', method: 'fido-enterprise', serial: '12345678' });
  });

  it('fails if the certificate names another serial number', () => {
    expect(judged(maker, { serialNumber: '12345679' })).toMatchObject({ rule: 'serial', proof: { grade: 'failed' } });
  });

  it('proves only the model for any other maker', () => {
    const { proof } = judged({ ...maker, organization: 'Test Maker' });
    expect(proof).toMatchObject({ grade: 'model', method: 'fido', serial: null });
    expect(proof.warnings).toEqual([expect.stringMatching(/only the model is proved/)]);
  });
});

describe('what proves nothing, but contradicts nothing', () => {
  const outdated = { now: new Date('2026-12-02') };
  it.each([
    ['self attestation', { kind: 'self' }, {}, 'fido-self', /self attestation proves nothing/],
    ['no attestation', { kind: 'none' }, {}, 'fido-none', /does not attest/],
    ['a zero AAGUID', { aaguid: ZERO, certifiedAaguid: null }, {}, 'fido-zero-aaguid', /AAGUID is zero/],
    ['a root that newer metadata may have', { root: otherRoot }, outdated, 'fido-root', /AAGUID 1111/],
    ['a certificate that has expired', {}, { provedAt: new Date('2099-01-01') }, 'fido-root', /expired/],
  ] as const)('%s', (_, options, question, rule, words) => {
    expect(judged(options, question)).toMatchObject({
      rule,
      reason: expect.stringMatching(words),
      proof: { grade: 'claimed', serial: null },
    });
  });
});

describe('what fails, each with its own words', () => {
  const copied = new TestAuthenticator(genuine).certificate.der;
  const revoked = (status: string, changes = {}) => ({
    metadata: metadataOf([
      entry(root, { statusReports: [{ status, effectiveDate: '2026-01-01', certificate: null, ...changes }] }),
    ]),
  });

  it.each([
    ['a copied certificate without its key', { presented: copied }, 'fido-signature', /does not hold the private key/],
    [
      "an AAGUID under another maker's root",
      { root: otherRoot },
      'fido-root',
      /does not lead to a root of its AAGUID: AAGUID 1111/,
    ],
    ['a certificate of another AAGUID', { certifiedAaguid: OTHER_AAGUID }, 'fido-aaguid', /another AAGUID: 9999/],
    ['an empty credential key', { credentialKey: null }, 'malformed', /credential key: it is not a key for ES256/],
    ['a credential key for EdDSA', { credentialKey: { 3: -8 } }, 'malformed', /not a key for ES256/],
    ['a credential key of P-384', { credentialKey: { [-1]: 2 } }, 'malformed', /not a key for ES256/],
    [
      'a credential key off the curve',
      { credentialKey: { [-2]: Buffer.alloc(32, 5) } },
      'malformed',
      /not a point of P-256/,
    ],
    ['no touch', { flags: 0x40 }, 'fido-touch', /did not report a touch/],
    ['no credential', { flags: 0x01 }, 'malformed', /no credential/],
    ['extensions that are announced but missing', { flags: 0xc1 }, 'malformed', /flags do not say/],
    [
      'a certificate of a CA',
      { extensions: [] as TestExtension[], presented: root.der },
      'fido-certificate',
      /does not name a country/,
    ],
  ] as const)('%s', (_, options, rule, words) => {
    expect(judged(options)).toMatchObject({
      rule,
      reason: expect.stringMatching(words),
      proof: { grade: 'failed', serial: null },
    });
  });

  it.each([
    [
      'no country',
      { [NAME.organization]: 'M', [NAME.unit]: 'Authenticator Attestation', [NAME.common]: 'X' },
      /country/,
    ],
    [
      'no organization',
      { [NAME.country]: 'SE', [NAME.unit]: 'Authenticator Attestation', [NAME.common]: 'X' },
      /organization/,
    ],
    [
      'another unit',
      { [NAME.country]: 'SE', [NAME.organization]: 'M', [NAME.unit]: 'Sales', [NAME.common]: 'X' },
      /unit of its subject/,
    ],
    [
      'no common name',
      { [NAME.country]: 'SE', [NAME.organization]: 'M', [NAME.unit]: 'Authenticator Attestation' },
      /common name/,
    ],
  ])('a certificate with %s', (_, subject, words) => {
    expect(judged({ subject })).toMatchObject({ rule: 'fido-certificate', reason: expect.stringMatching(words) });
  });

  it('a self attestation that the credential has not signed', () => {
    const asked = ask(trust);
    const evidence = fidoEvidence(new TestAuthenticator({ ...genuine, kind: 'self' }), ask(trust));
    expect(verdict(evidence, asked)).toMatchObject({ rule: 'fido-signature', proof: { grade: 'failed' } });
  });

  it('another relying party', () => {
    const asked = ask(trust);
    expect(verdict(fidoEvidence(new TestAuthenticator(genuine), asked, 'example.org'), asked)).toMatchObject({
      rule: 'fido-relying-party',
    });
  });

  it.each([
    ['challenge', { challenge: Buffer.alloc(32, 7) }],
    ['serial number', { serialNumber: '1' }],
    ['registry', { registryId: 'INST-0002' }],
  ])('an attestation for another %s', (_, changes) => {
    const asked = ask(trust);
    const evidence = fidoEvidence(new TestAuthenticator(genuine), asked);
    expect(verdict(evidence, { ...asked, question: { ...asked.question, ...changes } })).toMatchObject({
      rule: 'fido-signature',
      proof: { grade: 'failed' },
    });
  });

  it.each([
    'REVOKED',
    'ATTESTATION_KEY_COMPROMISE',
    'USER_VERIFICATION_BYPASS',
    'USER_KEY_REMOTE_COMPROMISE',
    'USER_KEY_PHYSICAL_COMPROMISE',
  ])('a model that is reported %s', status => {
    expect(judged({}, {}, revoked(status))).toMatchObject({
      rule: 'status',
      reason: `The FIDO metadata reports that this model is not to be trusted: ${status} for Test Key 3 since 2026-01-01.`,
      proof: { grade: 'failed' },
    });
  });

  it('a compromise of a certificate only if the path has it', () => {
    expect(judged({}, {}, revoked('ATTESTATION_KEY_COMPROMISE', { certificate: root.fingerprint })).rule).toBe(
      'status',
    );
    expect(
      judged({}, {}, revoked('ATTESTATION_KEY_COMPROMISE', { certificate: otherRoot.fingerprint })).proof,
    ).toMatchObject({
      grade: 'model',
      warnings: [expect.stringMatching(/another certificate of this model/)],
    });
  });

  type Listed = readonly [status: string, effectiveDate: string | null, version?: number];
  const reports = (listed: readonly Listed[]) =>
    listed.map(([status, effectiveDate, authenticatorVersion]) => ({
      status,
      effectiveDate,
      certificate: null,
      ...(authenticatorVersion === undefined ? {} : { authenticatorVersion }),
    }));
  const compromise = ['USER_VERIFICATION_BYPASS', '2025-01-01', 5] as const;
  const update = ['UPDATE_AVAILABLE', '2025-02-01', 7] as const;
  const certified = ['FIDO_CERTIFIED_L2', '2025-03-01', 7] as const;
  const reported = (authenticatorVersion: number, listed: readonly Listed[]) => ({
    metadata: metadataOf([entry(root, { statusReports: reports(listed), authenticatorVersion })]),
  });

  it.each([
    ['in order', 7, [compromise, update, certified]],
    ['listed in another order', 7, [certified, update, compromise]],
    [
      'without dates',
      7,
      [
        ['REVOKED', null, 5],
        ['UPDATE_AVAILABLE', null, 7],
        ['FIDO_CERTIFIED', null, 7],
      ],
    ],
    ['with the version of the statement alone', 7, [compromise, ['UPDATE_AVAILABLE', '2025-02-01'], certified]],
  ] as const)(
    'nothing if an update has fixed a compromise and was certified, but it warns: %s',
    (_, version, listed) => {
      const { proof } = judged({}, {}, reported(version, listed));
      expect(proof.grade).toBe('model');
      expect(proof.warnings).toContainEqual(
        expect.stringMatching(
          /reports (USER_VERIFICATION_BYPASS|REVOKED) for firmware before version 7; .*does not show the firmware/,
        ),
      );
    },
  );

  it.each([
    ['is not certified again', 7, [compromise, update]],
    ['was certified before the update', 7, [compromise, ['FIDO_CERTIFIED', '2025-01-15', 7], update]],
    ['is certified from a later day on', 7, [compromise, update, ['FIDO_CERTIFIED', '2027-01-01', 7]]],
    ['was updated before the compromise', 7, [update, ['REVOKED', '2025-02-15', 5], certified]],
    ['has an update of the same version', 5, [compromise, ['UPDATE_AVAILABLE', '2025-02-01', 5], certified]],
    ['has a statement about the version before the update', 5, [compromise, update, certified]],
  ] as const)('a compromised model that %s', (_, version, listed) => {
    expect(judged({}, {}, reported(version, listed)).rule).toBe('status');
  });

  it('a compromised certificate, also after an update', () => {
    const [first, ...rest] = reports([compromise, update, certified]);
    const statusReports = [{ ...first!, certificate: root.fingerprint }, ...rest];
    const trusted = { metadata: metadataOf([entry(root, { statusReports, authenticatorVersion: 7 })]) };
    expect(judged({}, {}, trusted).rule).toBe('status');
  });

  it.each([
    ['6', 'status'],
    ['7', null],
    ['5.7.4', null],
  ])('a key that reports the version %s itself, before the update 7: %s', (firmware, rule) => {
    const asked = ask(reported(7, [compromise, update, certified]));
    expect(verdict(fidoEvidence(new TestAuthenticator(genuine), asked), asked, { firmware }).rule).toBe(rule);
  });

  it.each([
    ['UPDATE_AVAILABLE', /an update of the firmware is available/],
    ['SOMETHING_NEW', /unknown here/],
    ['RETIRED', /retired/],
  ])('nothing if the status is %s, but it warns', (status, words) => {
    expect(judged({}, {}, revoked(status)).proof).toMatchObject({
      grade: 'model',
      warnings: [expect.stringMatching(words)],
    });
  });
});

describe('what is not proved keeps grade claimed', () => {
  it.each([
    ['an authenticator that does not attest', { kind: 'none' }, trust, 'fido-none'],
    ['a certificate without an AAGUID', { certifiedAaguid: null }, trust, 'fido-aaguid-missing'],
    ['an AAGUID that is not in the metadata', {}, { metadata: metadataOf([]) }, 'no-trust'],
    ['a registry without metadata', {}, {}, 'no-trust'],
  ] as const)('%s', (_, options, trusted, rule) => {
    expect(judged(options, {}, trusted)).toMatchObject({
      rule,
      reason: expect.stringMatching(/^Not proved/),
      proof: { grade: 'claimed' },
    });
  });
});

describe('an attestation certificate', () => {
  const subject = {
    [NAME.country]: 'SE',
    [NAME.organization]: 'M',
    [NAME.unit]: 'Authenticator Attestation',
    [NAME.common]: 'X',
  };
  const aaguid = (value: Uint8Array, critical = false) => ({ id: '1.3.6.1.4.1.45724.1.1.4', value, critical });
  it.each([
    ['of version 1', { version: 1 as const }, /version is not 3/],
    ['without basic constraints', { extensions: [aaguid(octetString(Buffer.alloc(16)))] }, /basic constraints/],
    ['of a CA', { extensions: [basicConstraints(true)] }, /basic constraints/],
    [
      'with an AAGUID of 15 bytes',
      { extensions: [basicConstraints(false), aaguid(octetString(Buffer.alloc(15)))] },
      /16 bytes/,
    ],
    [
      'with a critical AAGUID',
      { extensions: [basicConstraints(false), aaguid(octetString(Buffer.alloc(16)), true)] },
      /critical extension/,
    ],
  ])('%s is refused', (_, options, words) => {
    const presented = makeCertificate({ subject, issuer: makeRoot('R'), ...options }).der;
    expect(judged({ presented })).toMatchObject({
      rule: 'fido-certificate',
      reason: expect.stringMatching(words),
      proof: { grade: 'failed' },
    });
  });
});
