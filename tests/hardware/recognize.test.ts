/** A key is recognized by a credential that it has made for the registry: without a touch, in lists that it takes, and by nothing else. */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AssertionRequest, KeyEvidence } from '../../drivers/driver.ts';
import { type CborMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { AAGUID } from '../proof/fixtures.ts';
import { hidTests } from '../support/driver-tests.ts';
import { FidoKey, type FidoKeyOptions } from '../support/fido-key.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { type CborInput, writeCbor } from '../support/test-cbor.ts';

const root = authenticatorRoot();
const REGISTRY = 'r1.devmgr.invalid';
const HASH = createHash('sha256').update('a challenge').digest();
const never = new AbortController().signal;

const hid = hidTests();

const authenticator = () => new TestAuthenticator({ root, aaguid: AAGUID });

async function plugged(options: Partial<FidoKeyOptions> = {}) {
  const fido = new FidoKey({ authenticator: authenticator(), ...options });
  hid.system.plug({ serial: null, interfaces: { fido } });
  const { keyId } = await hid.recorded.next('attached');
  await hid.recorded.next('changed');
  fido.received.length = 0;
  return { fido, keyId };
}

const questionOf = (credentials: readonly Uint8Array[], relyingParty = REGISTRY): AssertionRequest => ({
  relyingParty,
  clientDataHash: HASH,
  credentials,
});
const recognize = (keyId: string, question: AssertionRequest) => hid.driver.recognize!(keyId, question, never);

/** Has the key make a credential, as for a proof. */
async function made(keyId: string, fido: FidoKey, relyingParty = REGISTRY) {
  const request = { method: 'fido', hostPublicKey: new Uint8Array(), clientDataHash: HASH, relyingParty } as const;
  const evidence = await hid.driver.prove(keyId, request, { signal: never, onTouch: () => fido.touch() });
  fido.received.length = 0;
  return credentialOf(evidence);
}

function credentialOf(evidence: KeyEvidence) {
  if (evidence.method === 'u2f') {
    const bytes = Buffer.from(evidence.registration);
    return { id: new Uint8Array(bytes.subarray(67, 67 + bytes[66]!)), publicKey: pointKey(bytes.subarray(1, 66)) };
  }
  if (evidence.method !== 'fido') throw new Error('no credential');
  const data = Buffer.from((readCbor(evidence.attestationObject) as ReadonlyMap<number, Uint8Array>).get(2)!);
  const end = 55 + data.readUInt16BE(53);
  const cose = readCbor(data.subarray(end)) as ReadonlyMap<number, Uint8Array>;
  const point = Buffer.concat([Uint8Array.of(4), cose.get(-2)!, cose.get(-3)!]);
  return { id: new Uint8Array(data.subarray(55, end)), publicKey: pointKey(point) };
}

const pointKey = (point: Buffer) => {
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(one => one.toString('base64url')) as [string, string];
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
};

/** Ids that the key does not have. */
const others = (count: number, bytes = 32) =>
  Array.from({ length: count }, (_, i) => new Uint8Array(bytes).fill(i + 1));
/** Ids in each list that the key was asked with. */
const lists = (fido: FidoKey): number[] =>
  fido.received
    .filter(message => message.startsWith('1002'))
    .map(message => ((readCbor(Buffer.from(message.slice(4), 'hex')) as CborMap).get(3) as unknown[]).length);

describe('a key is recognized', () => {
  test('without a touch, by one message, with a signature that its public key verifies', async () => {
    const { fido, keyId } = await plugged();
    const { id, publicKey } = await made(keyId, fido);
    const found = await recognize(keyId, questionOf([...others(3), id]));
    expect(found?.credentialId).toEqual(id);
    const { authenticatorData, signature } = found!.assertion!;
    // No touch: flag UP is not set.
    expect(authenticatorData[32]! & 1).toBe(0);
    expect(verify('sha256', Buffer.concat([authenticatorData, HASH]), publicKey, signature)).toBe(true);
    expect(fido.received.map(message => message.slice(0, 4))).toEqual(['1004', '1002']);
  });

  test('although it has a PIN that each registration needs', async () => {
    const { fido, keyId } = await plugged();
    const { id } = await made(keyId, fido);
    expect((await recognize(keyId, questionOf([id])))?.credentialId).toEqual(id);
    const pin = await plugged({ authenticator: new TestAuthenticator({ root, aaguid: AAGUID, clientPin: true }) });
    expect(await recognize(pin.keyId, questionOf([id]))).toBeNull();
  });

  test('in lists of the length that it takes', async () => {
    const { fido, keyId } = await plugged({ authenticator: new IssuableAuthenticator({ root, aaguid: AAGUID }) });
    const { id } = await made(keyId, fido);
    expect((await recognize(keyId, questionOf([...others(19), id])))?.credentialId).toEqual(id);
    expect(lists(fido)).toEqual([8, 8, 4]);
  });

  test('in messages of the size that it takes', async () => {
    const { fido, keyId } = await plugged();
    expect(await recognize(keyId, questionOf(others(20, 200)))).toBeNull();
    expect(lists(fido)).toEqual(Array(5).fill(4));
    for (const message of fido.received) expect(message.length / 2).toBeLessThanOrEqual(1200);
  });

  test('by U2F if it has nothing else, and signs after a touch', async () => {
    const { fido, keyId } = await pluggedU2f();
    const { id, publicKey } = await made(keyId, fido);
    expect(await recognize(keyId, questionOf([...others(2), id]))).toEqual({ credentialId: id, assertion: null });
    // CTAP2 is tried first, then each credential is checked for.
    expect(fido.received.flatMap(message => (message.startsWith('03') ? message.slice(0, 8) : []))).toEqual(
      Array(3).fill('03000207'),
    );
    const request = { method: null, hostPublicKey: new Uint8Array(), ...questionOf([...others(2), id]) };
    let touches = 0;
    const onTouch = () => {
      touches += 1;
      fido.touch();
    };
    const signed = await hid.driver.prove(keyId, request, { signal: never, onTouch });
    if (signed.method !== 'assertion') throw new Error('no signature');
    expect([touches, signed.credentialId]).toEqual([1, id]);
    expect(signed.authenticatorData.subarray(0, 32)).toEqual(
      new Uint8Array(createHash('sha256').update(REGISTRY).digest()),
    );
    expect(verify('sha256', Buffer.concat([signed.authenticatorData, HASH]), publicKey, signed.signature)).toBe(true);
  });

  test('by two requests at once, one after the other', async () => {
    const { fido, keyId } = await plugged();
    const { id } = await made(keyId, fido);
    const both = await Promise.all([recognize(keyId, questionOf([id])), recognize(keyId, questionOf([id]))]);
    expect(both.map(one => one?.credentialId)).toEqual([id, id]);
  });
});

/** A key of U2F claims nothing. */
async function pluggedU2f() {
  const fido = new FidoKey({ authenticator: authenticator(), ctap2: false });
  hid.system.plug({ serial: null, interfaces: { fido } });
  const { keyId } = await hid.recorded.next('attached');
  return { fido, keyId };
}

describe('a key is not recognized', () => {
  test('by a credential of another key', async () => {
    const first = await plugged();
    const second = await plugged();
    const { id } = await made(first.keyId, first.fido);
    expect(await recognize(second.keyId, questionOf([id]))).toBeNull();
  });

  test('by a credential of another registry', async () => {
    const { fido, keyId } = await plugged();
    const { id } = await made(keyId, fido, 'r2.devmgr.invalid');
    expect(await recognize(keyId, questionOf([id]))).toBeNull();
    expect((await recognize(keyId, questionOf([id], 'r2.devmgr.invalid')))?.credentialId).toEqual(id);
  });

  test('at a site, and the key gets no message', async () => {
    const { fido, keyId } = await plugged();
    await expect(recognize(keyId, questionOf(others(1), 'example.com'))).rejects.toThrow(RangeError);
    expect(fido.received).toEqual([]);
  });

  test('if it asks for a touch: it is canceled', async () => {
    const { fido, keyId } = await plugged({ asksAlways: true });
    await expect(recognize(keyId, questionOf(others(1)))).rejects.toMatchObject({ code: 'unavailable' });
    expect(fido.canceled).toBe(1);
  });

  test('while it proves what it is', async () => {
    const { fido, keyId } = await plugged();
    const proving = made(keyId, fido);
    await expect(recognize(keyId, questionOf(others(1)))).rejects.toMatchObject({ code: 'busy' });
    await proving;
  });

  const assertion = (members: Readonly<Record<number, CborInput>>) =>
    Buffer.concat([Uint8Array.of(0), writeCbor(new Map(Object.entries(members).map(([k, v]) => [Number(k), v])))]);
  const named = (id: Uint8Array) => new Map<string, CborInput>(Object.entries({ id, type: 'public-key' }));
  const data = { 2: Buffer.alloc(37), 3: Buffer.alloc(70) };

  test.each([
    ['names a credential that was not asked for', assertion({ 1: named(Buffer.alloc(32, 0xee)), ...data })],
    ['names none of several', assertion(data)],
    ['has no signature', assertion({ 1: named(others(1)[0]!), 2: data[2] })],
    ['is not a map', Buffer.of(0, 0x80)],
    ['is empty', Buffer.of(0)],
    ['is an unknown status', Buffer.of(0x7f)],
  ])('if its answer %s', async (_what, response) => {
    const answer = (request: Uint8Array) => (request[0] === 0x02 ? response : null);
    const { keyId } = await plugged({ answer });
    await expect(recognize(keyId, questionOf(others(2)))).rejects.toMatchObject({ code: 'protocol' });
  });
});
