/**
 * The test card and the test authenticator, byte by byte as a transport talks to them, and what the contract requires of their
 * evidence.
 */
import { createHash } from 'node:crypto';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { RELYING_PARTY } from '../../daemon/devices/client-data.ts';
import { agreementData } from '../../daemon/proofs/judge/scp11b-crypto.ts';
import { expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { claims, evidence, proof } from '../../src/contract/proof.ts';
import { takeUnlisted } from '../support/received-commands.ts';
import { authenticatorRoot, TestAuthenticator, uuidBytes } from '../support/test-authenticator.ts';
import { writeCbor } from '../support/test-cbor.ts';
import { cardRoot, TestScp11bCard } from '../support/test-scp11b-card.ts';
import { AAGUID, anchor, ask, entry, genuineAnswers, metadataOf, text, verdict } from './fixtures.ts';

const hex = (value: string) => Buffer.from(value, 'hex');
const cards = cardRoot();
const newCard = () =>
  new TestScp11bCard({ serialNumber: 12_345_678, firmware: [5, 7, 4], formFactor: 3, root: cards, kvn: 3 });

/** The whole response to a command, with what GET RESPONSE fetches. */
function exchange(card: TestScp11bCard, command: Uint8Array): Buffer {
  let response = card.answer(command);
  const parts = [response.subarray(0, -2)];
  while (response.at(-2) === 0x61) {
    response = card.answer(hex('00c0000000'));
    parts.push(response.subarray(0, -2));
  }
  if (response.subarray(-2).toString('hex') !== '9000')
    throw new Error(`status ${response.subarray(-2).toString('hex')}`);
  return Buffer.concat(parts);
}

const SELECT = hex('00a4040008a000000151000000');

describe('the test card', () => {
  it('lists its keys, gives its chain and proves its certificate over APDUs', () => {
    const card = newCard();
    const asked = ask({ anchors: [anchor(cards)] });
    exchange(card, SELECT);
    expect(exchange(card, hex('00ca00e000')).toString('hex')).toContain('1303');
    const bundle = exchange(card, hex('00cabf2106a6048302130300'));
    expect(bundle.subarray(0, 3).toString('hex')).toBe('bf2182');
    expect(bundle.subarray(5)).toEqual(Buffer.concat(card.chain));
    const data = agreementData(asked.ephemeral.publicKey);
    const answer = exchange(card, Buffer.concat([hex('80880313'), Uint8Array.of(data.length), data]));
    expect(answer.subarray(0, 3).toString('hex')).toBe('5f4941');
    expect(answer.subarray(68, 70).toString('hex')).toBe('8610');
    const sent = {
      method: 'scp11b' as const,
      kvn: 3,
      chain: card.chain.map(text),
      cardPublicKey: text(answer.subarray(3, 68)),
      receipt: text(answer.subarray(70)),
    };
    expect(verdict(sent, asked).proof).toMatchObject({ grade: 'unit', serial: '12345678' });
  });

  it.each([
    ['before SELECT', [], '00ca00e000', '6a82'],
    ['of another key version', [SELECT], '00cabf2106a6048302130400', '6a88'],
    ['that is not known', [SELECT], '0020000000', '6d00'],
    ['with other parameters', [SELECT], '8088031305a60d900211', '6a80'],
  ])('refuses a command %s', (_, before, command, word) => {
    const card = newCard();
    for (const each of before) exchange(card, each);
    expect(card.answer(hex(command)).toString('hex')).toBe(word);
    // The test sends them, and not the program.
    takeUnlisted();
  });
});

describe('the test authenticator', () => {
  const root = authenticatorRoot();
  const authenticator = new TestAuthenticator({
    root,
    aaguid: AAGUID,
    serialOctets: hex('00bc614e'),
    clientPin: false,
  });

  it('answers getInfo', () => {
    const response = authenticator.cbor(hex('04'));
    expect(response[0]).toBe(0);
    const info = expectMap(readCbor(response.subarray(1)), 'info');
    expect(info.get(3)).toEqual(uuidBytes(AAGUID));
    expect(info.get(4)).toEqual(
      new Map([
        ['rk', true],
        ['up', true],
        ['ep', true],
        ['clientPin', false],
      ]),
    );
  });

  it('answers makeCredential', () => {
    const asked = ask({ metadata: metadataOf([entry(root)]) });
    const { registryId, serialNumber, challenge } = asked.question;
    const hash = createHash('sha256')
      .update(`devmgr-proof-v1\0${registryId}\0${serialNumber}\0`)
      .update(challenge)
      .digest();
    const request = writeCbor(
      new Map<number, Uint8Array | Map<string, string>>([
        [1, hash],
        [2, new Map([['id', RELYING_PARTY]])],
      ]),
    );
    const response = authenticator.cbor(Buffer.concat([Uint8Array.of(1), request]));
    expect(response[0]).toBe(0);
    expect(verdict({ method: 'fido', attestationObject: text(response.subarray(1)) }, asked).proof.grade).toBe('model');
  });

  it.each([
    ['an unknown command', '06', '01'],
    ['makeCredential without a relying party', '01a102a0', '14'],
  ])('refuses %s', (_, request, status) => {
    expect(authenticator.cbor(hex(request)).toString('hex')).toBe(status);
  });
});

describe('the contract', () => {
  const { asked, scp11b, evidence: sent } = genuineAnswers();
  const [isEvidence, isProof, isClaims] = [Compile(evidence), Compile(proof), Compile(claims)];

  it.each(sent)('accepts the evidence $method and the proof of it', one => {
    expect(isEvidence.Check(one)).toBe(true);
    expect(isProof.Check(verdict(one, asked).proof)).toBe(true);
  });

  it('bounds evidence and claims', () => {
    expect(isEvidence.Check({ ...scp11b, chain: Array(9).fill(scp11b.chain[0]) })).toBe(false);
    expect(isEvidence.Check({ ...scp11b, receipt: `${scp11b.receipt}A` })).toBe(false);
    expect(isEvidence.Check({ method: 'fido', attestationObject: 'a'.repeat(22_000) })).toBe(false);
    expect(isEvidence.Check({ method: 'fido', attestationObject: 'not base64!' })).toBe(false);
    expect(
      isClaims.Check({ aaguid: AAGUID, firmware: '5.7.4', options: { rk: true }, certifications: { FIDO: 1 } }),
    ).toBe(true);
    expect(isClaims.Check({ aaguid: AAGUID.toUpperCase().replace('1', 'A') })).toBe(false);
    expect(isClaims.Check({ options: { rk: 'yes' } })).toBe(false);
  });
});
