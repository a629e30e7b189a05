/** YubiKeys prove themselves by SCP11b over the real PC/SC service, against a card under a test root. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Driver, TrafficLine } from '../../drivers/driver.ts';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { createPcscDriver, type PcscDriver } from '../../drivers/pcsc/index.ts';
import { toHex } from '../../drivers/protocols/hex.ts';
import type { KeyView } from '../../drivers/protocols/key-view.ts';
import { proveKey } from '../../drivers/protocols/prove-key.ts';
import { findKvn, parseAgreement, parseChain } from '../../drivers/protocols/scp11b.ts';
import { AAGUID, anchor } from '../proof/fixtures.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { asking, judged } from '../support/proof-requests.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { cardRoot } from '../support/test-scp11b-card.ts';
import { yubiKeyCard } from '../support/vcard.ts';
import { yubiKey574 } from '../support/yubikey-574.ts';

const root = cardRoot();
const trust = { anchors: [anchor(root)] };
const SERIAL = '12345678';
const never = new AbortController().signal;
const prove = (driver: Driver, keyId: string, asked: ReturnType<typeof asking>) =>
  driver.prove(keyId, asked.request, { signal: never, onTouch: () => {} });

withPcscd('a proof by SCP11b', () => {
  let pcscd: Pcscd;
  beforeAll(async () => {
    pcscd = await startPcscd({ reader: 'Yubico YubiKey OTP+FIDO+CCID' });
  });
  afterAll(() => pcscd.stop());

  let pcsc: PcscDriver;
  let hid: Driver;
  let usb: FakeHid;
  let keys: Recorder;
  let traffic: TrafficLine[];
  beforeEach(async () => {
    usb = new FakeHid();
    traffic = [];
    pcsc = createPcscDriver({ traffic: line => traffic.push(line) });
    hid = createHidDriver({ system: usb, keyCards: pcsc.keyCards });
    keys = recorder(hid);
    await pcsc.start(() => {});
    await hid.start(keys.listener);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await Promise.all([hid.stop(), pcsc.stop()]);
  });

  const fido = () =>
    new FidoKey({
      authenticator: new TestAuthenticator({ root: authenticatorRoot(), aaguid: AAGUID }),
      vendor: { 66: () => Buffer.from('0b020400bc614e0503050704', 'hex') },
    });
  async function plugged() {
    usb.plug({ ids: '1050:0406', hasSmartCard: true, interfaces: { fido: fido() } });
    return keys.next('attached');
  }

  it('leads to the grade unit, with the commands of the specification and no touch', async () => {
    const { program, domain } = yubiKey574({ root, kvn: 3 });
    await pcscd.insert(program);
    const { keyId, serialNumber, firmwareVersion } = await plugged();
    expect({ serialNumber, firmwareVersion }).toEqual({ serialNumber: SERIAL, firmwareVersion: '5.7.4' });
    const asked = asking(trust, SERIAL);
    const evidence = await prove(hid, keyId, asked);
    expect(judged(evidence, asked).proof).toMatchObject({ grade: 'unit', method: 'scp11b', serial: SERIAL });
    const host = toHex(asked.ephemeral.publicKey).toLowerCase();
    expect(domain.commands.filter(command => !command.startsWith('00c0'))).toEqual([
      '00a4040008a000000151000000',
      '00ca00e000',
      '00cabf2106a6048302130300',
      `8088031353a60d9002110095013c8001888101105f4941${host}`,
    ]);
    expect(traffic.filter(line => line.keyId === keyId).length).toBeGreaterThan(0);
  });

  it('is made once after the key was plugged in: the second attempt is refused before anything is sent', async () => {
    const { program, domain } = yubiKey574({ root });
    await pcscd.insert(program);
    const { keyId } = await plugged();
    await prove(hid, keyId, asking(trust, SERIAL));
    await expect(prove(hid, keyId, asking(trust, SERIAL))).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringMatching(/already answered by SCP11b.*unplug it and plug it in again/),
    });
    expect(domain.commands.filter(command => command.startsWith('8088'))).toHaveLength(1);
  });

  it('is refused with a clear message by a key that does not have it', async () => {
    await pcscd.insert(yubiKeyCard({ serial: '00BC614E', version: '050704' }));
    const { keyId } = await plugged();
    await expect(prove(hid, keyId, asking(trust, SERIAL, 'scp11b'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/from firmware 5\.7\.4/),
    });
  });
});

describe('a proof', () => {
  const fakeView = (openCard: KeyView['openCard'], productId = '0406'): KeyView => ({
    vendorId: '1050',
    productId,
    descriptorSerial: null,
    openFido: null,
    openOtp: null,
    openCard,
  });
  const run = (view: KeyView, firmwareVersion: string | null) =>
    proveKey({ view, firmwareVersion, beforeScp11b: () => {} }, asking(trust, SERIAL, 'scp11b').request, {
      signal: never,
      onTouch: () => {},
    });

  it('waits for the smart card interface, which appears later than the others', async () => {
    const { domain } = yubiKey574({ root });
    let attempts = 0;
    const view = fakeView(async () => {
      attempts += 1;
      if (attempts < 3) throw new HardwareError('unavailable', 'its smart card interface has not appeared');
      return { transmit: async command => domain.answer(command), close: async () => {} };
    });
    expect(await run(view, '5.7.4')).toMatchObject({ method: 'scp11b', kvn: 1 });
  });

  it.each([null, '5.7.3', '5.4.3', '4.9.9', ''])('opens no card of a key with firmware %j', async firmware => {
    const view = fakeView(() => Promise.reject(new Error('opened')));
    await expect(run(view, firmware)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each(['5.7.4', '5.8.0', '6.0'])('opens the card of a key with firmware %s', async firmware => {
    const view = fakeView(() => Promise.reject(new HardwareError('busy', 'opened')));
    await expect(run(view, firmware)).rejects.toMatchObject({ message: 'opened' });
  });
});

describe('the answers of a security domain', () => {
  const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
  it.each([
    ['with the tag around them', 'e00ac00401ff8810c0021303'],
    ['without it', 'c00401ff8810c0041303b020'],
  ])('key references are read %s', (_what, information) => {
    expect(findKvn(hex(information))).toBe(3);
  });

  it('certificates are read with the tag around them, and without it', () => {
    const chain = [hex('30020500'), hex('3003020101')];
    const bare = '300205003003020101';
    expect(parseChain(hex(bare))).toEqual(chain);
    expect(parseChain(hex(`bf2109${bare}`))).toEqual(chain);
  });

  it.each([
    ['nothing', ''],
    ['something that is not a certificate', '0403010203'],
    ['a certificate that is cut off', '3082ffff'],
    ['an indefinite length', '3080'],
    ['nine certificates', '3000'.repeat(9)],
  ])('%s instead of certificates is an error', (_what, stored) => {
    expect(() => parseChain(hex(stored))).toThrow(expect.objectContaining({ name: 'HardwareError', code: 'protocol' }));
  });

  it.each([
    ['a refusal', { status: 0x6a80, data: hex('') }],
    ['no receipt', { status: 0x9000, data: hex(`5f494104${'00'.repeat(64)}`) }],
    ['a short receipt', { status: 0x9000, data: hex(`5f494104${'00'.repeat(64)}860100`) }],
    ['more than it should', { status: 0x9000, data: hex(`5f494104${'00'.repeat(64)}8610${'00'.repeat(16)}0500`) }],
  ])('%s to the key agreement is an error', (_what, response) => {
    expect(() => parseAgreement(response)).toThrow(expect.objectContaining({ code: 'protocol' }));
  });
});
