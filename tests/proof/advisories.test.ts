/** Advisories by family and firmware, and the policies of a registry. */
import { describe, expect, it } from 'vitest';
import { advisories, advisoriesFor } from '../../daemon/proof/advisories.ts';
import { checkPolicy } from '../../daemon/proof/policy.ts';
import { hasGrade } from '../../src/contract/grades.ts';
import type { Claims, Proof, ProofPolicy } from '../../src/contract/proof.ts';
import { proofGrades } from '../../src/contract/values.ts';
import { makeRoot } from '../support/test-pki.ts';
import { AAGUID, ask, entry, metadataOf, OTHER_AAGUID, verdict } from './fixtures.ts';

const idsFor = (name: string, firmware: string, fips = false) =>
  advisoriesFor({ names: [name], fips, firmware, basis: 'claimed' }).map(text => text.split(':')[0]);

describe('an advisory', () => {
  it.each([
    ['YubiKey 5 NFC', '5.6.9', ['YSA-2024-03']],
    ['YubiKey 5 NFC', '5.7.0', []],
    ['Security Key by Yubico', '5.4.3', ['YSA-2024-03']],
    ['Security Key by Yubico', '5.7.0', []],
    ['YubiKey Bio', '5.7.1', ['YSA-2024-03']],
    ['YubiKey Bio', '5.7.2', []],
    ['YubiKey 5 FIPS', '5.4.3', ['YSA-2024-03']],
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

  it('is of the FIPS series if the key says so, and each one names its source', () => {
    expect(idsFor('YubiKey 4', '4.4.4', true)).toContain('YSA-2019-02');
    for (const { source } of advisories)
      expect(source).toMatch(/^https:\/\/www\.yubico\.com\/support\/security-advisories\/ysa-/);
  });

  it('says whether the firmware is proved or claimed', () => {
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

  it('are none if the key says nothing', () => {
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
    expect(proof.warnings).toEqual([expect.stringMatching(/^YSA-2024-03: .*as the key claims/)]);
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

  it.each([
    ['none', ['none', 'claimed', 'model', 'unit']],
    ['claimed', ['claimed', 'model', 'unit']],
    ['model', ['model', 'unit']],
    ['unit', ['unit']],
  ] as const)('that requires %s allows %j', (requiredGrade, allowed) => {
    expect(proofGrades.filter(grade => hasGrade(proof({ grade }), requiredGrade))).toEqual(allowed);
  });

  it('that requires nothing allows a key without a proof, but not one whose proof failed', () => {
    expect(checkPolicy(open, null)).toBeNull();
    expect(checkPolicy(open, proof({ grade: 'failed', warnings: ['It is a copy.'] }))).toMatchObject({
      rule: 'required grade',
      message: expect.stringMatching(
        /requires a proof of grade none; the grade of this key is failed \(It is a copy\.\)/,
      ),
    });
  });

  it('that requires a grade refuses a key without a proof', () => {
    expect(checkPolicy({ ...open, requiredGrade: 'model' }, null)).toEqual({
      rule: 'required grade',
      message: 'the policy of this registry requires a proof of grade model; the grade of this key is none',
    });
  });

  it('allows AAGUIDs', () => {
    const policy = { ...open, allowedAaguids: [AAGUID] };
    expect(checkPolicy(policy, proof())).toBeNull();
    expect(checkPolicy(policy, null, { aaguid: AAGUID })).toBeNull();
    expect(checkPolicy(policy, proof({ aaguid: OTHER_AAGUID }))).toMatchObject({
      rule: 'allowed AAGUIDs',
      message: expect.stringMatching(OTHER_AAGUID),
    });
    expect(checkPolicy(policy, proof({ aaguid: null }))).toMatchObject({
      message: expect.stringMatching(/this key has none/),
    });
    expect(checkPolicy(policy, proof({ aaguid: OTHER_AAGUID }), { aaguid: AAGUID })).not.toBeNull();
  });

  it.each([
    ['the version itself', [{ version: '5.7.0' }], '5.7.0', true],
    ['a later one', [{ version: '5.7' }], '5.10.0', true],
    ['an earlier one', [{ version: '5.7.0' }], '5.6.12', false],
    ['an unknown one', [{ version: '5.7.0' }], null, false],
    ['one that is not a version', [{ version: '5.7.0' }], 'beta', false],
    ['any if the rule is for another AAGUID', [{ aaguid: OTHER_AAGUID, version: '9' }], null, true],
    ['an earlier one of this model', [{ model: 'test key', version: '2' }], '1.9', false],
    ['any of another model', [{ model: 'key', version: '2' }], '1.9', true],
  ])('on firmware judges %s', (_, leastFirmware, firmware, allowed) => {
    const refusal = checkPolicy({ ...open, leastFirmware }, proof({ firmware }));
    expect(refusal?.rule ?? null).toBe(allowed ? null : 'least firmware');
  });

  it('uses firmware that is claimed if none is proved', () => {
    const policy = { ...open, leastFirmware: [{ version: '5.7.0' }] };
    expect(checkPolicy(policy, proof(), { firmware: '5.7.1' })).toBeNull();
    expect(checkPolicy(policy, proof({ firmware: '5.6.0' }), { firmware: '5.7.1' })?.message).toMatch(
      /requires firmware 5\.7\.0 or later; this key has 5\.6\.0/,
    );
  });
});
