/** A FIDO key on a reader, by NFC or contacts, through the real PC/SC service: the UKEY that it is over USB. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { KeyEvidence } from '../../drivers/driver.ts';
import { readCbor } from '../../drivers/protocols/cbor.ts';
import { AAGUID, entry, metadataOf } from '../proof/fixtures.ts';
import { pcscTests } from '../support/driver-tests.ts';
import { type FidoCardOptions, fidoCard } from '../support/fido-card.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { withPcscd } from '../support/pcscd.ts';
import { asking, judged } from '../support/proof-requests.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { contactlessCard, token2Card, yubiKeyCard } from '../support/vcard.ts';

const root = authenticatorRoot();
const trust = { metadata: metadataOf([entry(root)]) };
const REGISTRY = 'r1.devmgr.invalid';
const HASH = createHash('sha256').update('a challenge').digest();
const never = new AbortController().signal;
const authenticator = () => new TestAuthenticator({ root, aaguid: AAGUID });

withPcscd('a FIDO key on a reader', () => {
  const pcsc = pcscTests('Virtual Contactless PICC');

  async function tapped(options: Partial<FidoCardOptions> = {}) {
    const program = fidoCard({ authenticator: authenticator(), ...options });
    const card = await pcsc.pcscd.insert(program);
    const key = await pcsc.recorded.next('attached');
    return { program, card, key };
  }

  const recognize = (keyId: string, credentials: readonly Uint8Array[]) =>
    pcsc.driver.recognize!(keyId, { relyingParty: REGISTRY, clientDataHash: HASH, credentials }, never);
  const make = (keyId: string, onTouch = () => {}) => {
    const request = { method: 'fido', hostPublicKey: new Uint8Array(), clientDataHash: HASH } as const;
    return pcsc.driver.prove(keyId, { ...request, relyingParty: REGISTRY }, { signal: never, onTouch });
  };
  const credentialOf = (evidence: KeyEvidence): Uint8Array => {
    if (evidence.method === 'u2f') return evidence.registration.slice(67, 67 + evidence.registration[66]!);
    if (evidence.method !== 'fido') throw new Error('no credential');
    const data = Buffer.from((readCbor(evidence.attestationObject) as ReadonlyMap<number, Uint8Array>).get(2)!);
    return new Uint8Array(data.subarray(55, 55 + data.readUInt16BE(53)));
  };

  it('is a UKEY without a serial number, whatever UID it has, and reports its model', async () => {
    for (const uid of ['08123456', '04A1B2C3D4E5F6']) {
      const { key, card } = await tapped({ uid });
      expect(key).toMatchObject({ deviceType: 'UKEY', serialNumber: null, serialSource: null, transport: 'PCSC' });
      expect(key.problem).toMatch(/no readable serial/);
      expect((await pcsc.recorded.next('changed')).claims).toMatchObject({ aaguid: AAGUID, options: { rk: true } });
      expect(card.commands.filter(command => command.startsWith('FFCA'))).toEqual([]);
      await card.remove();
      await pcsc.recorded.next('detached');
    }
  });

  it('of Yubico and of Token2 has the serial number that it has over USB', async () => {
    const yubikey = await tapped({ others: yubiKeyCard({ serial: '00BC614E', version: '050403' }) });
    expect(yubikey.key).toMatchObject({
      deviceType: 'UKEY',
      serialNumber: '12345678',
      serialSource: 'yubikey-management',
      firmwareVersion: '5.4.3',
      manufacturer: 'Yubico',
      problem: null,
    });
    await yubikey.card.remove();
    await pcsc.recorded.next('detached');
    const token2 = await tapped({ others: token2Card({ serial: 'T2-00117' }) });
    expect(token2.key).toMatchObject({ deviceType: 'UKEY', serialNumber: 'T2-00117', serialSource: 'token2' });
  });

  it('of the Security Key series, which has no serial number, is reported without one', async () => {
    const { key } = await tapped({ others: yubiKeyCard({ serial: '00000000', version: '050403' }) });
    expect(key).toMatchObject({
      deviceType: 'UKEY',
      serialNumber: null,
      manufacturer: 'Yubico',
      firmwareVersion: '5.4.3',
    });
    expect(key.problem).toMatch(/no readable serial/);
  });

  it('makes a credential after a touch, by chained commands, and is recognized by it without one', async () => {
    const { key, program } = await tapped({ waits: 3 });
    let touches = 0;
    const id = credentialOf(await make(key.keyId, () => touches++));
    expect(touches).toBe(1);
    expect(program.parts.filter(part => part.startsWith('801100'))).toHaveLength(3);
    expect(program.parts.some(part => part.startsWith('00C00000'))).toBe(true);
    const others = Array.from({ length: 8 }, (_, i) => new Uint8Array(64).fill(i + 1));
    const before = program.parts.length;
    const found = await recognize(key.keyId, [...others, id]);
    expect(found?.credentialId).toEqual(id);
    expect(found!.assertion!.authenticatorData[32]! & 1).toBe(0);
    expect(program.parts.slice(before).some(part => part.startsWith('9010'))).toBe(true);
    expect(await recognize(key.keyId, others)).toBeNull();
  });

  it('by U2F makes a credential and is recognized by it', async () => {
    const { key, program } = await tapped({ ctap2: false });
    const id = credentialOf(await make(key.keyId));
    expect(await recognize(key.keyId, [new Uint8Array(64), id])).toEqual({ credentialId: id, assertion: null });
    expect(program.messages.some(message => message.startsWith('03000207'))).toBe(true);
  });

  it('proves its model as over USB', async () => {
    const { key } = await tapped({ others: yubiKeyCard({ serial: '00BC614E', version: '050403' }) });
    const asked = asking(trust, '12345678');
    const evidence = await pcsc.driver.prove(key.keyId, asked.request, { signal: never, onTouch: () => {} });
    expect(judged(evidence, asked).proof).toMatchObject({ grade: 'model', aaguid: AAGUID });
  });

  it('is issued as over USB', async () => {
    const own = new IssuableAuthenticator({ root, aaguid: AAGUID });
    const { key } = await tapped({ authenticator: own, issued: true });
    await pcsc.driver.issue!(key.keyId, { signal: never, onTouch: () => {} }, one => one.setPin(Buffer.from('481516')));
    expect(own.isPin('481516')).toBe(true);
    const failed = pcsc.driver.issue!(key.keyId, { signal: never, onTouch: () => {} }, async () => {
      throw new TypeError('a mistake');
    });
    await expect(failed).rejects.toThrow(TypeError);
  });

  it('that waits for a touch is canceled', async () => {
    const { key, program } = await tapped({ waits: 1_000 });
    const canceled = new AbortController();
    const request = {
      method: 'fido',
      hostPublicKey: new Uint8Array(),
      clientDataHash: HASH,
      relyingParty: REGISTRY,
    } as const;
    const proving = pcsc.driver.prove(key.keyId, request, { signal: canceled.signal, onTouch: () => canceled.abort() });
    await expect(proving).rejects.toMatchObject({ code: 'aborted' });
    expect(await recognize(key.keyId, [new Uint8Array(64)])).toBeNull();
    expect(program.parts).toContain('8011110000');
  });

  it('is another thing than a card without FIDO, which stays a SIMKEY', async () => {
    await pcsc.pcscd.insert(contactlessCard({ uid: '04A1B2C3D4E5F6' }));
    const key = await pcsc.recorded.next('attached');
    expect(key).toMatchObject({ deviceType: 'SIMKEY', serialNumber: '04A1B2C3D4E5F6', serialSource: 'uid' });
    await expect(recognize(key.keyId, [new Uint8Array(64)])).rejects.toMatchObject({ code: 'unavailable' });
  });
});
