/** Advisories by family and firmware, and the policies of a registry. */
import { describe, expect, it } from 'vitest';
import { advisories, advisoriesFor } from '../../daemon/devices/advisories.ts';
import { checkPolicy } from '../../daemon/proofs/judge/policy.ts';
import { provedFacts } from '../../daemon/proofs/judge/proved-facts.ts';
import { hasGrade } from '../../src/contract/grades.ts';
import { proofGrades } from '../../src/contract/key-values.ts';
import type { Claims, Proof, ProofPolicy } from '../../src/contract/proof.ts';
import { makeRoot } from '../support/test-pki.ts';
import { AAGUID, ask, entry, metadataOf, OTHER_AAGUID, verdict } from './fixtures.ts';

const idsFor = (name: string, firmware: string, fips = false) =>
  advisoriesFor({ names: [name], fips, firmware, basis: 'claimed' }).map(text => text.split(':')[0]);

describe('an advisory', () => {
  it.each([
    ['YubiKey 5 NFC', '5.0.0', ['YSA-2024-03', 'YSA-2024-02']],
    ['YubiKey 5 NFC', '5.4.0', ['YSA-2024-03', 'YSA-2024-02']],
    ['YubiKey 5 NFC', '5.4.1', ['YSA-2024-03', 'YSA-2024-02', 'YSA-2025-02']],
    ['YubiKey 5 NFC', '5.6.9', ['YSA-2024-03', 'YSA-2024-02', 'YSA-2025-02']],
    ['YubiKey 5 NFC', '5.7.0', ['YSA-2025-02']],
    ['YubiKey 5 NFC', '5.7.3', ['YSA-2025-02']],
    ['YubiKey 5 NFC', '5.7.4', []],
    ['Security Key by Yubico', '5.4.3', ['YSA-2024-03', 'YSA-2024-02', 'YSA-2025-02']],
    ['Security Key by Yubico', '5.7.4', []],
    ['YubiKey Bio', '5.5.6', ['YSA-2024-03', 'YSA-2024-02', 'YSA-2025-02']],
    ['YubiKey Bio', '5.6.4', ['YSA-2024-03', 'YSA-2025-02']],
    ['YubiKey Bio', '5.7.2', ['YSA-2025-02']],
    ['YubiKey Bio', '5.7.4', []],
    ['YubiKey 5 FIPS', '5.4.3', ['YSA-2024-03', 'YSA-2024-02', 'YSA-2025-02']],
    ['YubiKey 5 FIPS', '5.7.2', ['YSA-2025-02']],
    ['YubiKey 5 FIPS', '5.7.4', []],
    ['YubiKey FIPS', '4.4.1', ['YSA-2024-03']],
    ['YubiKey FIPS', '4.4.2', ['YSA-2024-03', 'YSA-2019-02']],
    ['YubiKey FIPS', '4.4.4', ['YSA-2024-03', 'YSA-2019-02']],
    ['YubiKey FIPS', '4.4.5', ['YSA-2024-03']],
    ['YubiKey 4', '4.4.4', ['YSA-2024-03']],
    ['YubiKey 4', '4.2.5', ['YSA-2024-03']],
    ['YubiKey 4', '4.2.6', ['YSA-2024-03', 'YSA-2017-01']],
    ['YubiKey 4', '4.3.4', ['YSA-2024-03', 'YSA-2017-01']],
    ['YubiKey 4', '4.3.5', ['YSA-2024-03']],
    ['YubiKey NEO', '3.4.9', []],
    ['Security Key by another maker', '1.0.0', []],
    ['ePass K9', '4.2.6', []],
    ['YubiKey 5 NFC', 'unknown', []],
  ])('for %s with firmware %s: %j', (name, firmware, ids) => {
    expect(idsFor(name, firmware)).toEqual(ids);
  });

  it('is of the FIPS series if the key reports this, and each one names its source', () => {
    expect(idsFor('YubiKey 4', '4.4.4', true)).toContain('YSA-2019-02');
    for (const { source } of advisories)
      expect(source).toMatch(/^https:\/\/www\.yubico\.com\/support\/security-advisories\/ysa-/);
  });

  it('shows whether the firmware is proved or claimed', () => {
    const subject = { names: ['YubiKey 5'], fips: false, firmware: '5.4.3' };
    expect(advisoriesFor({ ...subject, basis: 'proved' })[0]).toMatch(/\(firmware 5\.4\.3, proved\)/);
    expect(advisoriesFor({ ...subject, basis: 'claimed' })[0]).toMatch(/\(firmware 5\.4\.3, as the key claims\)/);
  });
});

describe('claims', () => {
  const judged = (claims: Claims, described?: string) =>
    verdict(
      null,
      ask(
        { metadata: metadataOf([entry(makeRoot('R'), { description: 'YubiKey 5 Series with NFC' })]) },
        described === undefined ? {} : { described },
      ),
      claims,
    ).proof;

  it('are none if the key reports nothing', () => {
    expect(judged({})).toMatchObject({ grade: 'none', method: null, provedAt: null, warnings: [] });
  });

  it('are shown as claimed, with the advisories for what is claimed', () => {
    const proof = judged({ aaguid: AAGUID, firmware: '5.4.3' });
    expect(proof).toMatchObject({
      grade: 'claimed',
      method: 'claims',
      model: 'YubiKey 5 Series with NFC',
      aaguid: AAGUID,
      firmware: '5.4.3',
      serial: null,
      root: null,
    });
    expect(proof.warnings).toContainEqual(expect.stringMatching(/^YSA-2024-03: .*as the key claims/));
  });

  it('find advisories by the registered model if nothing else names it', () => {
    expect(judged({ firmware: '4.3.4' }, 'Yubico YubiKey 4').warnings).toHaveLength(2);
    expect(judged({ firmware: '4.3.4' }).warnings).toEqual([]);
  });

  it.each([{ atr: '3b9f' }, { cplc: '00'.repeat(42) }])('of a card prove nothing, and say so: %j', claims => {
    expect(judged(claims)).toMatchObject({
      grade: 'claimed',
      warnings: [expect.stringMatching(/ICCID, ATR and CPLC prove nothing/)],
    });
  });

  it('of an eUICC are only claimed, and say so', () => {
    expect(judged({ eid: '89'.repeat(16) }).warnings).toContainEqual(expect.stringMatching(/eUICC is only claimed/));
  });
});

describe('a policy', () => {
  const open: ProofPolicy = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] };
  const proof = (changes: Partial<Proof> = {}): Proof => ({
    grade: 'model',
    method: 'fido',
    model: 'Test Key 3',
    aaguid: AAGUID,
    firmware: null,
    serial: null,
    root: 'r',
    metadataNumber: 80,
    provedAt: null,
    warnings: [],
    ...changes,
  });

  const check = (policy: ProofPolicy, found: Proof | null) => checkPolicy(policy, provedFacts(found));

  it.each([
    ['none', ['none', 'claimed', 'model', 'unit']],
    ['claimed', ['claimed', 'model', 'unit']],
    ['model', ['model', 'unit']],
    ['unit', ['unit']],
  ] as const)('that requires %s allows %j', (requiredGrade, allowed) => {
    expect(proofGrades.filter(grade => hasGrade(proof({ grade }), requiredGrade))).toEqual(allowed);
  });

  it('that requires nothing allows a key without a proof, but not one whose proof failed', () => {
    expect(check(open, null)).toBeNull();
    expect(check(open, proof({ grade: 'failed', warnings: ['It is a copy.'] }))).toMatchObject({
      rule: 'required grade',
      message: expect.stringMatching(
        /requires a proof of grade none; the grade of this key is failed \(It is a copy\.\)/,
      ),
    });
  });

  it('that requires a grade refuses a key without a proof', () => {
    expect(check({ ...open, requiredGrade: 'model' }, null)).toEqual({
      rule: 'required grade',
      message: 'the policy of this registry requires a proof of grade model; the grade of this key is none',
    });
  });

  const allowed = { ...open, allowedAaguids: [AAGUID] };
  const from57 = { ...open, leastFirmware: [{ version: '5.7.0' }] };

  it('allows AAGUIDs that are proved', () => {
    expect(check(allowed, proof())).toBeNull();
    expect(check(allowed, proof({ aaguid: OTHER_AAGUID }))).toEqual({
      rule: 'allowed AAGUIDs',
      message: `the policy of this registry allows keys by their AAGUID; ${OTHER_AAGUID} is not allowed`,
    });
  });

  it.each([
    ['a key without a proof', null, 'none'],
    ['a key that claims it', proof({ grade: 'claimed', method: 'claims' }), 'claimed'],
    ['a key whose evidence cannot be judged', proof({ grade: 'claimed', method: 'claims', root: null }), 'claimed'],
    ['a U2F key', proof({ method: 'u2f', aaguid: null }), 'u2f'],
    ['a card with SCP11b', proof({ method: 'scp11b', aaguid: null, grade: 'unit' }), 'scp11b'],
  ])('on AAGUIDs refuses %s, and names the fact', (_, found, basis) => {
    expect(check(allowed, found)).toEqual({
      rule: 'allowed AAGUIDs',
      message: `the policy of this registry allows keys by their AAGUID; the AAGUID of this key is not proved (proof: ${basis})`,
    });
  });

  it.each([
    ['the version itself', [{ version: '5.7.0' }], '5.7.0', true],
    ['a later one', [{ version: '5.7' }], '5.10.0', true],
    ['an earlier one', [{ version: '5.7.0' }], '5.6.12', false],
    ['one that is not proved', [{ version: '5.7.0' }], null, false],
    ['one that is not a version', [{ version: '5.7.0' }], 'beta', false],
    ['any if the rule is for another AAGUID', [{ aaguid: OTHER_AAGUID, version: '9' }], null, true],
    ['an earlier one of this AAGUID', [{ aaguid: AAGUID, version: '9' }], '8', false],
    ['an earlier one of this model', [{ model: 'test key', version: '2' }], '1.9', false],
    ['one of a more exact model than is proved', [{ model: 'Test Key 3 FIPS', version: '2' }], '1.9', false],
    ['any of another model', [{ model: 'key', version: '2' }], '1.9', true],
    ['each rule', [{ version: '1' }, { model: 'test', version: '2' }], '1.9', false],
  ])('on firmware judges %s', (_, leastFirmware, firmware, isAllowed) => {
    const refusal = check({ ...open, leastFirmware }, proof({ firmware }));
    expect(refusal?.rule ?? null).toBe(isAllowed ? null : 'least firmware');
  });

  it.each([
    ['a key without a proof', null, 'none'],
    ['a key that claims it', proof({ grade: 'claimed', method: 'claims', firmware: '5.7.1' }), 'claimed'],
    ['a FIDO key', proof(), 'fido'],
    ['a U2F key', proof({ method: 'u2f', aaguid: null }), 'u2f'],
  ])('on firmware refuses %s, and names the fact', (_, found, basis) => {
    expect(check(from57, found)).toEqual({
      rule: 'least firmware',
      message: `the policy of this registry requires firmware 5.7.0 or later; the firmware of this key is not proved (proof: ${basis})`,
    });
  });

  it.each([
    ['without a proof', { model: 'YubiKey' }, null, 'model'],
    ['that claims another model', { model: 'YubiKey' }, proof({ grade: 'claimed', method: 'claims' }), 'model'],
    ['whose model is the name of its trust anchor', { model: 'YubiKey' }, proof({ metadataNumber: null }), 'model'],
    ['that claims another AAGUID', { aaguid: OTHER_AAGUID }, proof({ grade: 'claimed' }), 'AAGUID'],
    ['with U2F', { aaguid: OTHER_AAGUID }, proof({ method: 'u2f', aaguid: null }), 'AAGUID'],
  ])('on the firmware of some keys refuses a key %s: it could be one of them', (_, some, found, fact) => {
    const refusal = check({ ...open, leastFirmware: [{ ...some, version: '5.7.0' }] }, found);
    expect(refusal?.rule).toBe('least firmware');
    expect(refusal?.message).toContain(`the firmware and the ${fact} of this key are not proved`);
  });

  it('on the firmware of some keys allows each key whose firmware is proved and new enough', () => {
    const leastFirmware = [{ aaguid: OTHER_AAGUID, version: '5.7.0' }];
    const card = proof({ method: 'scp11b', aaguid: null, metadataNumber: null, grade: 'unit', firmware: '5.7.4' });
    expect(check({ ...open, leastFirmware }, card)).toBeNull();
  });
});
