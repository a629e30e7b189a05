import { describe, expect, test } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';
import type { CardConnection } from '../../drivers/protocols/connection.ts';
import { identifyKey } from '../../drivers/protocols/identify-key.ts';
import type { KeyView } from '../../drivers/protocols/key-view.ts';
import { FakeCtapKey, FakeOtpKey, fakeCard } from '../support/fake-ukey.ts';

const never = new AbortController().signal;
const CONFIG = '0e020400bc614e0401030503050403'; // 12345678, firmware 5.4.3
const OTP_SERIAL = '00bc614ec804';
const READ_TOKEN2 = `8033000012d110${'00'.repeat(16)}`;

interface Interfaces {
  fido?: FakeCtapKey | HardwareError;
  otp?: FakeOtpKey | HardwareError;
  card?: CardConnection | HardwareError;
  descriptor?: string;
}

let closed = 0;
function view(ids: string, available: Interfaces): KeyView {
  const [vendorId, productId] = ids.split(':') as [string, string];
  const opener = (one: object | undefined) => {
    if (one === undefined) return null;
    return async () => {
      if (one instanceof HardwareError) throw one;
      return new Proxy(one, {
        get(target, name) {
          if (name === 'close') return async () => void closed++;
          const value = Reflect.get(target, name, target) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    };
  };
  return {
    vendorId,
    productId,
    descriptorSerial: available.descriptor ?? null,
    openFido: opener(available.fido) as KeyView['openFido'],
    openOtp: opener(available.otp) as KeyView['openOtp'],
    openCard: opener(available.card) as KeyView['openCard'],
  };
}
const ask = (ids: string, available: Interfaces) => identifyKey(view(ids, available), never, 1_000);
const absent = new HardwareError('unavailable', 'its smart card interface has not appeared');
const denied = new HardwareError('no-permission', 'opening the key: Permission denied');

describe('the source of a serial', () => {
  test("is the maker's protocol, before the descriptor", async () => {
    const fido = new FakeCtapKey([5, 4, 3], { 66: CONFIG });
    expect(await ask('1050:0407', { fido, otp: new FakeOtpKey('050403', OTP_SERIAL), descriptor: '99' })).toMatchObject(
      {
        verdict: { serial: '12345678' },
        source: 'yubikey-management',
        firmwareVersion: '5.4.3',
        unsettled: null,
      },
    );
  });

  test('is the OTP interface if the key does not support the command over FIDO', async () => {
    const fido = new FakeCtapKey([4, 0, 2], {});
    expect(await ask('1050:0407', { fido, otp: new FakeOtpKey('040002', OTP_SERIAL) })).toMatchObject({
      verdict: { serial: '12345678' },
      source: 'yubikey-otp',
      firmwareVersion: '4.0.2',
    });
  });

  test('is the smart card interface if neither FIDO nor OTP has a serial', async () => {
    const card = fakeCard({ '00a4040007a0000005272001': '9000', '00011000': '00bc614e9000' });
    const sides = { fido: new FakeCtapKey([4, 0, 2], {}), otp: new FakeOtpKey('040002', null), card };
    expect(await ask('1050:0407', sides)).toMatchObject({
      verdict: { serial: '12345678' },
      source: 'yubikey-management',
    });
  });

  test('is not the smart card interface if the key has reported over FIDO that it has no serial', async () => {
    const fido = new FakeCtapKey([5, 4, 3], { 66: '0805030504030401410000' });
    const identity = await ask('1050:0406', { fido, card: absent });
    expect(identity).toMatchObject({ verdict: { serial: null }, unsettled: null });
  });

  test('is the descriptor for a key of an unknown maker, without opening the key', async () => {
    expect(await ask('096e:0850', { fido: denied, descriptor: 'SN-1' })).toMatchObject({
      verdict: { serial: 'SN-1' },
      source: 'usb-descriptor',
      unsettled: null,
    });
  });

  test('of a key of any maker that may not be opened is missing for that reason', async () => {
    for (const ids of ['096e:0850', '20a0:42b1', '18d1:5026'])
      expect(await ask(ids, { fido: denied })).toMatchObject({
        verdict: { serial: null },
        unsettled: { code: 'no-permission' },
      });
  });

  test("is a YubiKey's descriptor without the padding, as in its own protocol", async () => {
    const fido = new FakeCtapKey([4, 0, 2], {});
    const identity = await ask('1050:0402', { fido, descriptor: '0012345678' });
    expect(identity).toMatchObject({ verdict: { serial: '12345678' }, source: 'usb-descriptor' });
  });

  test('is the smart card interface of a Token2 key if the program has access to it, else the descriptor', async () => {
    const card = fakeCard({ '00a4040008f00000014f747001': '9000', [READ_TOKEN2]: 'd104313233359000' });
    expect(await ask('349e:0010', { card })).toMatchObject({ verdict: { serial: '1235' }, source: 'token2' });
    const thetis = fakeCard({ '00a4040008f00000014f747001': '9000', [READ_TOKEN2]: 'd104313233369000' });
    expect(await ask('1ea8:fc26', { card: thetis })).toMatchObject({ verdict: { serial: '1236' }, source: 'token2' });
    expect(await ask('349e:0010', { descriptor: 'T2-1' })).toMatchObject({ source: 'usb-descriptor', unsettled: null });
  });

  test('is missing for a Security Key, and that is final', async () => {
    const fido = new FakeCtapKey([5, 4, 3], { 66: '080401410503050403' });
    const identity = await ask('1050:0402', { fido });
    expect(identity).toMatchObject({
      verdict: { serial: null },
      source: null,
      firmwareVersion: '5.4.3',
      unsettled: null,
    });
    expect(identity.verdict.problem).toContain('no readable serial');
  });
});

describe('another attempt is worthwhile', () => {
  test.each([
    ['an interface has not appeared yet', {}, 'unavailable'],
    ['an interface may not be opened', { fido: denied }, 'no-permission'],
    ['the key gives an invalid answer', { fido: new FakeCtapKey([5, 4, 3], { 66: 'ff' }) }, 'protocol'],
    ['the key does not answer', { fido: new FakeCtapKey([5, 4, 3], { 66: { reports: [] } }) }, 'timeout'],
  ])('when %s', async (_why, available, code) => {
    const identity = await identifyKey(view('1050:0402', available), never, 30);
    expect(identity).toMatchObject({ verdict: { serial: null }, unsettled: { code } });
  });

  test('when the serial came from a lesser source because a better one failed', async () => {
    const identity = await ask('1050:0407', { fido: denied, otp: new FakeOtpKey('050403', OTP_SERIAL) });
    expect(identity).toMatchObject({ source: 'yubikey-otp', unsettled: { code: 'no-permission' } });
  });
});

test('every interface that was opened is closed, with or without a result', async () => {
  closed = 0;
  await ask('1050:0407', { fido: new FakeCtapKey([5, 4, 3], { 66: 'ff' }), otp: new FakeOtpKey('050403', '00') });
  expect(closed).toBe(2);
});

test('an abort during an attempt rejects with `aborted`', async () => {
  const abort = new AbortController();
  const fido = new FakeCtapKey([5, 4, 3], { 66: { reports: [] } });
  const asked = identifyKey(view('1050:0402', { fido }), abort.signal, 10_000);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ name: 'HardwareError', code: 'aborted' });
});
