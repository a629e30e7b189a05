/** A card proves its certificate and its serial number; each way to cheat fails with words of its own. */
import { describe, expect, it } from 'vitest';
import type { Scp11bEvidence } from '../../src/contract/proof.ts';
import { integer, octetString, oid, sequence } from '../support/test-der.ts';
import {
  basicConstraints,
  keyUsage,
  makeCa,
  makeCertificate,
  makeRoot,
  NAME,
  type TestExtension,
} from '../support/test-pki.ts';
import {
  type CardOptions,
  cardCaExtensions,
  cardExtensions,
  cardRoot,
  TestScp11bCard,
} from '../support/test-scp11b-card.ts';
import { anchor, ask, cardEvidence, text, verdict } from './fixtures.ts';

const root = cardRoot();
const genuine: CardOptions = { serialNumber: 12_345_678, firmware: [5, 7, 4], formFactor: 3, root };
const trust = { anchors: [anchor(root)] };

/** The extensions of a genuine leaf, with some replaced or (null) removed. */
function extensions(changes: Readonly<Record<string, TestExtension | null>>): TestExtension[] {
  return cardExtensions(genuine).flatMap(each => (each.id in changes ? (changes[each.id] ?? []) : each));
}
const SERIAL = '1.3.6.1.4.1.41482.7.2';
const ORIGIN = '1.3.6.1.4.1.41482.7.3';
const USAGE = '2.5.29.15';

function judged(
  options: Partial<CardOptions> = {},
  change: (evidence: Scp11bEvidence) => Partial<Scp11bEvidence> = () => ({}),
) {
  const asked = ask(trust);
  const evidence = cardEvidence(new TestScp11bCard({ ...genuine, ...options }), asked);
  return verdict({ ...evidence, ...change(evidence) }, asked);
}

describe('SCP11b', () => {
  it('proves model, firmware and serial number of a genuine card', () => {
    expect(judged()).toEqual({
      rule: null,
      reason: null,
      proof: {
        grade: 'unit',
        method: 'scp11b',
        model: 'YubiKey 5 (USB-C keychain)',
        aaguid: null,
        firmware: '5.7.4',
        serial: '12345678',
        root: 'Test root',
        metadataNumber: null,
        provedAt: '2026-11-22T04:00:00.000Z',
        warnings: [],
      },
    });
  });

  it('reads firmware and form factor also without an OCTET STRING', () => {
    const id = '1.3.6.1.4.1.41482.7.1';
    const { proof } = judged({ extensions: extensions({ [id]: { id, value: Uint8Array.from([5, 7, 4]) } }) });
    expect(proof).toMatchObject({ grade: 'unit', firmware: '5.7.4' });
  });

  it('uses an imported intermediate that the card does not send', () => {
    const ca = makeCa('Imported CA', root);
    const middle = makeCa('Middle CA', ca);
    const asked = ask({ ...trust, intermediates: [{ ...anchor(ca), purpose: 'scp11b' }] });
    const evidence = cardEvidence(new TestScp11bCard({ ...genuine, root: middle }), asked);
    expect(verdict({ ...evidence, chain: [text(middle.der), ...evidence.chain] }, asked).proof.grade).toBe('unit');
    expect(
      verdict(
        { ...evidence, chain: [text(middle.der), ...evidence.chain] },
        { ...asked, question: { ...asked.question, trust: { ...asked.question.trust, intermediates: [] } } },
      ).rule,
    ).toBe('chain');
  });

  it.each(['1.3.6.1.4.1.41482.7.1', '2.5.29.32'])('knows the CA of a card by its extension %s alone', id => {
    const caExtensions = cardCaExtensions(genuine).filter(
      each => each.id === id || each.id in { '2.5.29.19': 1, [USAGE]: 1 },
    );
    expect(judged({ caExtensions }).proof.grade).toBe('unit');
  });

  it('proves no serial number if the certificate does not name one', () => {
    const { proof, rule } = judged({ extensions: extensions({ [SERIAL]: null }) });
    expect(rule).toBeNull();
    expect(proof).toMatchObject({ grade: 'model', serial: null });
    expect(proof.warnings[0]).toMatch(/serial number is not proved/);
  });

  it('adds no advisory for firmware 5.7.4, and a proved one for 5.6.0', () => {
    expect(judged({ firmware: [5, 6, 0] }).proof.warnings).toEqual([
      expect.stringMatching(/^YSA-2024-03: .*firmware 5\.6\.0, proved.*https:/),
      expect.stringMatching(/^YSA-2024-02: /),
      expect.stringMatching(/^YSA-2025-02: /),
    ]);
  });
});

describe('what is not proved keeps grade claimed', () => {
  it('without an imported trust anchor', () => {
    const asked = ask({});
    const result = verdict(cardEvidence(new TestScp11bCard(genuine), asked), asked, { firmware: '5.7.4' });
    expect(result).toMatchObject({
      rule: 'no-trust',
      proof: { grade: 'claimed', method: 'claims', firmware: '5.7.4' },
    });
    expect(result.reason).toMatch(/^Not proved: no trust anchor/);
  });

  it.each([
    ['without key usage', { [USAGE]: null }],
    ['with a key usage for signatures', { [USAGE]: keyUsage(0) }],
  ])('%s', (_, changes) => {
    expect(judged({ extensions: extensions(changes) })).toMatchObject({
      rule: 'scp11b-certificate',
      reason: expect.stringMatching(/^Not proved: .*key agreement/),
      proof: { grade: 'claimed' },
    });
  });

  it.each([
    ['imported into the card', integer(0)],
    ['of another origin', integer(2)],
    ['of an origin that cannot be read', octetString(integer(1))],
  ])('with a key that was %s', (_, value) => {
    expect(judged({ extensions: extensions({ [ORIGIN]: { id: ORIGIN, value } }) })).toMatchObject({
      rule: 'scp11b-certificate',
      reason: expect.stringMatching(/^Not proved: .*was not made on the card/),
      proof: { grade: 'claimed', serial: null },
    });
  });

  it('unless the certificate does not name the origin of its key', () => {
    expect(judged({ extensions: extensions({ [ORIGIN]: null }) }).proof.grade).toBe('unit');
  });

  it.each([
    ['of another application under the same root', [basicConstraints(true, 0), keyUsage(5)]],
    [
      'with the policies of another issuer',
      [basicConstraints(true), keyUsage(5), { id: '2.5.29.32', value: sequence(sequence(oid('1.2.3'))) }],
    ],
  ])('with a certificate that a CA %s has issued', (_, caExtensions) => {
    expect(judged({ caExtensions })).toMatchObject({
      rule: 'scp11b-certificate',
      reason: expect.stringMatching(/^Not proved: .*not issued by the CA of a card/),
      proof: { grade: 'claimed', serial: null },
    });
  });

  it('with a certificate that the root itself has issued', () => {
    const card = new TestScp11bCard(genuine);
    const leaf = makeCertificate({
      subject: { [NAME.common]: 'Test Card' },
      issuer: root,
      extensions: cardExtensions(genuine),
      keys: card.keys,
    });
    const asked = ask(trust);
    const evidence = { ...cardEvidence(card, asked), chain: [text(leaf.der)] };
    expect(verdict(evidence, asked)).toMatchObject({ rule: 'scp11b-certificate', proof: { grade: 'claimed' } });
  });
});

describe('what fails, each with its own words', () => {
  const copied = new TestScp11bCard(genuine);
  const otherRoot = makeRoot('Test Attestation Root');

  it('a copied chain without its key', () => {
    expect(judged({ chain: copied.chain })).toMatchObject({
      rule: 'scp11b-receipt',
      reason: expect.stringMatching(/does not hold the private key of its certificate/),
      proof: { grade: 'failed', method: 'scp11b', serial: null },
    });
  });

  it('a receipt of another session', () => {
    const card = new TestScp11bCard(genuine);
    const earlier = cardEvidence(card, ask(trust));
    expect(verdict(earlier, ask(trust))).toMatchObject({ rule: 'scp11b-receipt', proof: { grade: 'failed' } });
  });

  it('a receipt that was received before', () => {
    const card = new TestScp11bCard(genuine);
    const earlier = cardEvidence(card, ask(trust));
    expect(verdict(earlier, ask(trust, { replayed: true }))).toMatchObject({
      rule: 'replay',
      reason: expect.stringMatching(/received before/),
      proof: { grade: 'failed' },
    });
  });

  it('a swapped serial number', () => {
    const asked = ask(trust, { serialNumber: '87654321' });
    expect(verdict(cardEvidence(new TestScp11bCard(genuine), asked), asked)).toMatchObject({
      rule: 'serial',
      reason: 'The certificate names another serial number: 12345678 instead of 87654321.',
      proof: { grade: 'failed' },
    });
  });

  it('another root with the same name', () => {
    expect(judged({ root: otherRoot })).toMatchObject({
      rule: 'chain',
      reason: expect.stringMatching(/signature of the path is not valid/),
    });
  });

  it('another root with another name', () => {
    expect(judged({ root: makeRoot('Other') })).toMatchObject({
      rule: 'chain',
      reason: expect.stringMatching(/do not lead to a trusted root/),
      proof: { grade: 'claimed', serial: null },
    });
  });

  it.each([
    [
      'a changed bit of the receipt',
      (evidence: Scp11bEvidence) => ({ receipt: flipped(evidence.receipt, 15) }),
      'scp11b-receipt',
    ],
    ['a receipt of 15 bytes', (evidence: Scp11bEvidence) => ({ receipt: evidence.receipt.slice(0, 20) }), 'malformed'],
    [
      'a point that is not on the curve',
      (evidence: Scp11bEvidence) => ({ cardPublicKey: flipped(evidence.cardPublicKey, 64) }),
      'scp11b-point',
    ],
    [
      'a compressed point',
      () => ({ cardPublicKey: text(Buffer.concat([Uint8Array.of(2), Buffer.alloc(32, 1)])) }),
      'scp11b-point',
    ],
    [
      'a certificate that ends early',
      (evidence: Scp11bEvidence) => ({ chain: evidence.chain.map(each => each.slice(0, -8)) }),
      'malformed',
    ],
    ['padded base64', (evidence: Scp11bEvidence) => ({ receipt: `${evidence.receipt}==` }), 'malformed'],
  ])('%s', (_, change, rule) => {
    expect(judged({}, change)).toMatchObject({ rule, proof: { grade: 'failed' } });
  });

  function flipped(value: string, at: number): string {
    const bytes = Buffer.from(value, 'base64url');
    bytes[at]! ^= 1;
    return text(bytes);
  }
});

describe('paths', () => {
  const leafOf = (issuer: ReturnType<typeof makeRoot>) => ({ ...genuine, root: issuer });

  it.each([
    [
      'an intermediate that is not a CA',
      makeCa('X', root, { extensions: [basicConstraints(false), keyUsage(5)] }),
      /not a CA/,
    ],
    ['an intermediate without basic constraints', makeCa('X', root, { extensions: [keyUsage(5)] }), /not a CA/],
    [
      'an intermediate that may not sign certificates',
      makeCa('X', root, { extensions: [basicConstraints(true), keyUsage(0)] }),
      /key usage/,
    ],
    [
      'an intermediate that allows no CA below it',
      makeCa('X', root, { extensions: [basicConstraints(true, 0), keyUsage(5)] }),
      /fewer certificates/,
    ],
    ['an expired intermediate', makeCa('X', root, { notAfter: new Date('2025-01-01') }), /had expired/],
    [
      'an intermediate that is not valid yet',
      makeCa('X', root, { notBefore: new Date('2027-01-01') }),
      /not yet valid/,
    ],
    [
      'an intermediate with an unknown critical extension',
      makeCa('X', root, { extensions: [basicConstraints(true), { id: '1.2.3.4', value: integer(1), critical: true }] }),
      /critical extension 1\.2\.3\.4/,
    ],
  ])('refuses %s', (_, middle, words) => {
    const asked = ask(trust);
    const evidence = cardEvidence(new TestScp11bCard(leafOf(middle)), asked);
    const result = verdict({ ...evidence, chain: [text(middle.der), ...evidence.chain] }, asked);
    expect(result).toMatchObject({ rule: 'chain', reason: expect.stringMatching(words) });
  });

  it('refuses a leaf whose issuer only claims to be the root', () => {
    const impostor = makeCertificate({
      subject: { [NAME.common]: 'Test Attestation Root' },
      extensions: [basicConstraints(true)],
    });
    const asked = ask(trust);
    const evidence = cardEvidence(new TestScp11bCard(leafOf(impostor)), asked);
    expect(verdict({ ...evidence, chain: [text(impostor.der), ...evidence.chain] }, asked).rule).toBe('chain');
  });

  it('refuses a path of more than eight certificates', () => {
    let last = root;
    const chain: string[] = [];
    for (let depth = 0; depth < 7; depth++) {
      last = makeCa(`CA ${depth}`, last);
      chain.push(text(last.der));
    }
    const asked = ask(trust);
    const evidence = cardEvidence(new TestScp11bCard(leafOf(last)), asked);
    const result = verdict({ ...evidence, chain: [...chain, ...evidence.chain] }, asked);
    expect(result).toMatchObject({ rule: 'chain', reason: expect.stringMatching(/more than 8 certificates/) });
  });
});
