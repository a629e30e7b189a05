import { describe, expect, test } from 'vitest';
import { HardwareError } from '../../drivers/driver.ts';
import type { CardConnection } from '../../drivers/protocols/ukey/connection.ts';
import { identify, type KeyView } from '../../drivers/protocols/ukey/identify.ts';
import { FakeCtapKey, FakeOtpKey, fakeCard } from '../support/fake-ukey.ts';

const never = new AbortController().signal;
const CONFIG = '0e020400bc614e0401030503050403'; // 12345678, firmware 5.4.3
const OTP_SERIAL = '00bc614ec804';
const READ_TOKEN2 = `8033000012d110${'00'.repeat(16)}`;

interface Sides {
  fido?: FakeCtapKey | HardwareError;
  otp?: FakeOtpKey | HardwareError;
  card?: CardConnection | HardwareError;
  descriptor?: string;
}

let closed = 0;
function view(ids: string, sides: Sides): KeyView {
  const [vendorId, productId] = ids.split(':') as [string, string];
  const opener = (side: object | undefined) => {
    if (side === undefined) return null;
    return async () => {
      if (side instanceof HardwareError) throw side;
      return new Proxy(side, {
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
    descriptorSerial: sides.descriptor ?? null,
    openFido: opener(sides.fido) as KeyView['openFido'],
    openOtp: opener(sides.otp) as KeyView['openOtp'],
    openCard: opener(sides.card) as KeyView['openCard'],
  };
}
const ask = (ids: string, sides: Sides) => identify(view(ids, sides), never, 1_000);
const absent = new HardwareError('unavailable', 'its smart card side has not appeared');
const denied = new HardwareError('no-permission', 'opening the key: Permission denied');

describe('the source of a serial', () => {
  test("is the key's own protocol before its descriptor", async () => {
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

  test('is the OTP side where FIDO does not know the question', async () => {
    const fido = new FakeCtapKey([4, 0, 2], {});
    expect(await ask('1050:0407', { fido, otp: new FakeOtpKey('040002', OTP_SERIAL) })).toMatchObject({
      verdict: { serial: '12345678' },
      source: 'yubikey-otp',
      firmwareVersion: '4.0.2',
    });
  });

  test('is the smart card side where neither tells', async () => {
    const card = fakeCard({ '00a4040007a0000005272001': '9000', '00011000': '00bc614e9000' });
    const sides = { fido: new FakeCtapKey([4, 0, 2], {}), otp: new FakeOtpKey('040002', null), card };
    expect(await ask('1050:0407', sides)).toMatchObject({
      verdict: { serial: '12345678' },
      source: 'yubikey-management',
    });
  });

  test('is not looked for on the smart card side where the key has said that it has none', async () => {
    const fido = new FakeCtapKey([5, 4, 3], { 66: '0805030504030401410000' });
    const identity = await ask('1050:0406', { fido, card: absent });
    expect(identity).toMatchObject({ verdict: { serial: null }, unsettled: null });
  });

  test("is the descriptor for a key that is no maker's in the table, which is not opened", async () => {
    expect(await ask('096e:0850', { fido: denied, descriptor: 'SN-1' })).toMatchObject({
      verdict: { serial: 'SN-1' },
      source: 'usb-descriptor',
      unsettled: null,
    });
  });

  test("of a YubiKey's descriptor is the number without its padding, as its protocol gives it", async () => {
    const fido = new FakeCtapKey([4, 0, 2], {});
    const identity = await ask('1050:0402', { fido, descriptor: '0012345678' });
    expect(identity).toMatchObject({ verdict: { serial: '12345678' }, source: 'usb-descriptor' });
  });

  test('of a Token2 key is its smart card side where there is a way to it, else the descriptor', async () => {
    const card = fakeCard({ '00a4040008f00000014f747001': '9000', [READ_TOKEN2]: 'd104313233359000' });
    expect(await ask('349e:0010', { card })).toMatchObject({ verdict: { serial: '1235' }, source: 'token2' });
    expect(await ask('349e:0010', { descriptor: 'T2-1' })).toMatchObject({ source: 'usb-descriptor', unsettled: null });
  });

  test('is none for a Security Key, and that is its last word', async () => {
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

describe('another look is worth while', () => {
  test.each([
    ['a side is not there yet', {}, 'unavailable'],
    ['a side may not be opened', { fido: denied }, 'no-permission'],
    ['the key answers nonsense', { fido: new FakeCtapKey([5, 4, 3], { 66: 'ff' }) }, 'protocol'],
    ['the key keeps silent', { fido: new FakeCtapKey([5, 4, 3], { 66: { reports: [] } }) }, 'timeout'],
  ])('when %s', async (_why, sides, code) => {
    const identity = await identify(view('1050:0402', sides), never, 30);
    expect(identity).toMatchObject({ verdict: { serial: null }, unsettled: { code } });
  });

  test('when the serial came from a lesser source for want of a better one', async () => {
    const identity = await ask('1050:0407', { fido: denied, otp: new FakeOtpKey('050403', OTP_SERIAL) });
    expect(identity).toMatchObject({ source: 'yubikey-otp', unsettled: { code: 'no-permission' } });
  });
});

test('every side that was opened is closed again, whatever came of it', async () => {
  closed = 0;
  await ask('1050:0407', { fido: new FakeCtapKey([5, 4, 3], { 66: 'ff' }), otp: new FakeOtpKey('050403', '00') });
  expect(closed).toBe(2);
});

test('a key that is given up on while it is asked ends with `aborted`', async () => {
  const abort = new AbortController();
  const fido = new FakeCtapKey([5, 4, 3], { 66: { reports: [] } });
  const asked = identify(view('1050:0402', { fido }), abort.signal, 10_000);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ name: 'HardwareError', code: 'aborted' });
});
