/** FIDO keys say what they are and prove it, through the whole HID driver, against an authenticator under a test root. */
import { describe, expect, test, vi } from 'vitest';
import { RELYING_PARTY } from '../../daemon/devices/client-data.ts';
import type { KeyEvidence } from '../../drivers/driver.ts';
import { readCbor } from '../../drivers/protocols/cbor.ts';
import { AAGUID, anchor, entry, metadataOf } from '../proof/fixtures.ts';
import { hidTests } from '../support/driver-tests.ts';
import type { FakeKey } from '../support/fake-hid.ts';
import { FidoKey, type FidoKeyOptions } from '../support/fido-key.ts';
import { asking, judged } from '../support/proof-requests.ts';
import { type AuthenticatorOptions, authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';

const root = authenticatorRoot();
const trust = { metadata: metadataOf([entry(root)]) };
const SERIAL = 'FT-0001';
const hex = (text: string) => Buffer.from(text, 'hex');

const hid = hidTests();

const fidoKey = (options: Partial<FidoKeyOptions> = {}, authenticator: Partial<AuthenticatorOptions> = {}) =>
  new FidoKey({ authenticator: new TestAuthenticator({ root, aaguid: AAGUID, ...authenticator }), ...options });

/** Plugs the key in and waits until it is reported. */
async function plugged(fido: FidoKey, key: FakeKey = { serial: SERIAL }) {
  const address = hid.system.plug({ ...key, interfaces: { fido } });
  const { keyId } = await hid.recorded.next('attached');
  return { address, keyId };
}

const never = new AbortController().signal;
const prove = (keyId: string, asked: ReturnType<typeof asking>, onTouch = () => {}, signal = never) =>
  hid.driver.prove(keyId, asked.request, { signal, onTouch });

describe('what a key reports about itself', () => {
  test('is read after it was reported, by getInfo alone if its maker has no commands', async () => {
    const fido = fidoKey();
    await plugged(fido);
    expect((await hid.recorded.next('changed')).claims).toEqual({
      aaguid: AAGUID,
      firmware: '329472',
      options: { rk: true, up: true },
    });
    expect(fido.received).toEqual(['1004']);
  });

  test('of a YubiKey includes its configuration', async () => {
    const values = [
      '020400bc614e',
      '040183',
      '0503050704',
      '130435434e46',
      // Version 5.7.4, beta, iteration 3.
      '190e0103050704020101030400000003',
    ].join('');
    const config = hex((values.length / 2).toString(16).padStart(2, '0') + values);
    const fido = fidoKey({ vendor: { 66: payload => (payload[0] === 0 ? config : null) } });
    await plugged(fido, { ids: '1050:0402' });
    expect((await hid.recorded.next('changed')).claims).toMatchObject({
      aaguid: AAGUID,
      firmware: '5.7.4',
      formFactor: 'usb-c-keychain',
      fips: true,
      partNumber: '5CNF',
      versionQualifier: 'beta 3',
    });
  });

  test('of a Trussed key includes its status and variant', async () => {
    const fido = fidoKey({
      vendor: {
        97: () => hex('01c00082'),
        98: () => hex('a1b2c3d4e5f60718293a4b5c6d7e8f90'),
        114: payload => (payload[0] === 0x80 ? hex('1207010002') : null),
      },
    });
    await plugged(fido, { ids: '20a0:42b2' });
    expect((await hid.recorded.next('changed')).claims).toMatchObject({
      firmware: '7.2.2',
      trussedStatus: 'internal flash error, SE050 error',
      variant: 'NRF52',
    });
  });

  test.each([
    ['a text', 'a26178'],
    ['an indefinite map', 'bf0180ff'],
    ['a map with a key twice', 'a201800180'],
    ['nothing', ''],
  ])('is left out if getInfo answers with %s', async (_what, response) => {
    const fido = fidoKey({ answer: () => hex(`00${response}`) });
    const { keyId } = await plugged(fido);
    // The request is the last sign of the reading: the key is listed without claims.
    await vi.waitFor(() => expect(fido.received).toEqual(['1004']));
    expect(hid.driver.keys()).toMatchObject([{ keyId, claims: {} }]);
    await expect(prove(keyId, asking(trust, SERIAL))).rejects.toMatchObject({ code: 'protocol' });
  });
});

describe('a receipt', () => {
  /** The key has made a credential in a proof, which is what a receipt is signed with. */
  const signing = (id: Uint8Array) => ({
    method: null,
    hostPublicKey: new Uint8Array(),
    clientDataHash: Buffer.alloc(32, 7),
    relyingParty: RELYING_PARTY,
    credentials: [id],
  });
  const credentialOf = (evidence: KeyEvidence): Buffer => {
    if (evidence.method !== 'fido') throw new Error('no credential');
    const map = readCbor(evidence.attestationObject) as ReadonlyMap<number, Uint8Array>;
    const data = Buffer.from(map.get(2)!);
    return data.subarray(55, 55 + data.readUInt16BE(53));
  };
  const work = (onTouch = () => {}) => ({ signal: never, onTouch });

  test('is signed after one touch, by one command, also by a key with a PIN', async () => {
    const fido = fidoKey();
    const { keyId } = await plugged(fido);
    const id = credentialOf(await prove(keyId, asking(trust, SERIAL), () => fido.touch()));
    const before = fido.received.length;
    let touches = 0;
    const signed = await hid.driver.prove(
      keyId,
      signing(id),
      work(() => {
        touches++;
        fido.touch();
      }),
    );
    expect(signed).toMatchObject({ method: 'assertion', credentialId: new Uint8Array(id) });
    expect(touches).toBe(1);
    expect(fido.received.slice(before).map(message => message.slice(0, 4))).toEqual(['1004', '1002']);
  });

  test.each([
    ['another key', {}, /does not have the credential/],
    ['another key of U2F', { ctap2: false }, /does not have the credential/],
    [
      'a key that demands a PIN',
      { answer: (r: Uint8Array) => (r[0] === 2 ? hex('36') : null) },
      /does not ask for the PIN to sign a receipt/,
    ],
    [
      'a key that demands it always, which is not asked',
      {
        answer: (r: Uint8Array) => {
          if (r[0] === 2) throw new Error('it was asked');
          return r[0] === 4 ? hex('00a20181684649444f5f325f3004a168616c776179735576f5') : null;
        },
      },
      /does not ask for the PIN to sign a receipt/,
    ],
    [
      'a key with a malformed answer',
      { answer: (r: Uint8Array) => (r[0] === 2 ? hex('00a0') : null) },
      /lacks a signature/,
    ],
    ['a key that answers bytes', { answer: (r: Uint8Array) => (r[0] === 2 ? hex('00ff00') : null) }, /is invalid/],
  ])('is not signed by %s', async (_what, options, message) => {
    const fido = fidoKey({ ...options, touched: true });
    const { keyId } = await plugged(fido);
    await expect(hid.driver.prove(keyId, signing(Buffer.alloc(300, 1)), work())).rejects.toThrow(message);
  });
});

describe('a proof by FIDO', () => {
  test('asks for a touch once, and leads to the grade model', async () => {
    const fido = fidoKey();
    const { keyId } = await plugged(fido);
    const asked = asking(trust, SERIAL);
    let touches = 0;
    const evidence = await prove(keyId, asked, () => {
      touches += 1;
      fido.touch();
    });
    expect(touches).toBe(1);
    expect(judged(evidence, asked)).toMatchObject({ rule: null, proof: { grade: 'model', method: 'fido' } });
    expect(judged(evidence, asking(trust, SERIAL))).toMatchObject({ proof: { grade: 'failed' } });
  });

  test('asks for an enterprise attestation if the key offers it, which proves the unit', async () => {
    const fido = fidoKey({ touched: true }, { serialOctets: hex('00bc614e'), organization: 'Yubico AB' });
    const { keyId } = await plugged(fido, { serial: '12345678' });
    const asked = asking(trust, '12345678');
    expect(judged(await prove(keyId, asked), asked).proof).toMatchObject({ grade: 'unit', method: 'fido-enterprise' });
    expect(fido.received.at(-1)).toMatch(/0a02$/);
  });

  test.each([
    ['has a PIN', { clientPin: true }, {}],
    ['does not know CTAP2', {}, { ctap2: false }],
  ])('uses U2F if the key %s, and sends no PIN', async (_what, authenticator, options) => {
    const fido = fidoKey({ ...options }, authenticator);
    const { keyId } = await plugged(fido);
    const asked = asking({ anchors: [anchor(root, { purpose: 'fido' })] }, SERIAL);
    const evidence = await prove(keyId, asked, () => fido.touch());
    expect(judged(evidence, asked)).toMatchObject({ rule: null, proof: { grade: 'model', method: 'u2f' } });
    expect(fido.received.filter(message => !/^1004|^030001/.test(message))).toEqual([]);
  });

  test('reports this if the key demands a PIN and does not have U2F', async () => {
    // FIDO_2_0, and clientPin is set.
    const fido = fidoKey({
      answer: request => (request[0] === 4 ? hex('00a20181684649444f5f325f3004a169636c69656e7450696ef5') : null),
    });
    const { keyId } = await plugged(fido);
    await expect(prove(keyId, asking(trust, SERIAL))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/requires a PIN.*does not ask for the PIN/),
    });
  });

  test('is canceled at the key when the caller goes away', async () => {
    const fido = fidoKey();
    const { keyId } = await plugged(fido);
    const abort = new AbortController();
    const proving = prove(keyId, asking(trust, SERIAL), () => abort.abort(), abort.signal);
    await expect(proving).rejects.toMatchObject({ code: 'aborted' });
    expect(fido.canceled).toBe(1);
  });

  test('ends with one clear line and no open handle if the key is unplugged before it is touched', async () => {
    const fido = fidoKey();
    const { keyId, address } = await plugged(fido);
    await expect(prove(keyId, asking(trust, SERIAL), () => hid.system.unplug(address))).rejects.toMatchObject({
      name: 'HardwareError',
      code: 'removed',
      message: 'the key was unplugged before it had proved what it is: plug it in and start again',
    });
    expect(hid.system.handles).toBe(0);
    await expect(prove(keyId, asking(trust, SERIAL))).rejects.toMatchObject({ code: 'removed' });
  });

  test('is refused while another one is running', async () => {
    const fido = fidoKey();
    const { keyId } = await plugged(fido);
    const waiting = Promise.withResolvers<void>();
    const first = prove(keyId, asking(trust, SERIAL), waiting.resolve);
    await waiting.promise;
    await expect(prove(keyId, asking(trust, SERIAL))).rejects.toMatchObject({ code: 'busy' });
    fido.touch();
    expect(await first).toMatchObject({ method: 'fido' });
  });

  test('is refused for a key without FIDO', async () => {
    hid.system.plug({ ids: '055c:db08', serial: 'LM-1', usages: ['vendor'] });
    const { keyId } = await hid.recorded.next('attached');
    await expect(prove(keyId, asking(trust, 'LM-1'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/neither FIDO nor SCP11b/),
    });
  });
});
