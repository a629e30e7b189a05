import { describe, expect, test } from 'vitest';
import { crc16, OtpReply, toReports } from '../../drivers/protocols/otp-reports.ts';
import { askToken2 } from '../../drivers/protocols/ukey/token2.ts';
import { askTrussed } from '../../drivers/protocols/ukey/trussed.ts';
import { askYubiKeyCard, askYubiKeyFido } from '../../drivers/protocols/ukey/yubikey.ts';
import { parseConfig } from '../../drivers/protocols/ukey/yubikey-config.ts';
import { askYubiKeyOtp } from '../../drivers/protocols/ukey/yubikey-otp.ts';
import { FakeCtapKey, FakeOtpKey, fakeCard, hex, toHex } from '../support/fake-ukey.ts';

const never = new AbortController().signal;
const protocolError = expect.objectContaining({ name: 'HardwareError', code: 'protocol' });

// Length, then: serial 00bc614e = 12345678, form factor 03 (USB-C), version 5.4.3, a tag nobody knows.
const YUBIKEY_5 = '11 0204 00bc614e 0401 03 0503 050403 7f01 00';
const SECURITY_KEY = '08 0401 41 0503 050403';

describe("a YubiKey's management answer", () => {
  test('tells serial and version', () => {
    expect(parseConfig(hex(YUBIKEY_5))).toEqual({
      serial: '12345678',
      firmwareVersion: '5.4.3',
      morePages: false,
    });
  });

  test('of a Security Key holds no serial', () => {
    expect(parseConfig(hex(SECURITY_KEY))).toMatchObject({ serial: null, firmwareVersion: '5.4.3' });
  });

  test.each(['', '05', '020204', '04 0208 0000', '02 0200'])('that is wrong is a protocol error: %j', bytes => {
    expect(() => parseConfig(hex(bytes))).toThrow(protocolError);
  });
});

describe('a YubiKey over CTAPHID', () => {
  test('is asked for page 0 by command 42', async () => {
    const key = new FakeCtapKey([5, 4, 3], { 66: YUBIKEY_5.replaceAll(' ', '') });
    expect(await askYubiKeyFido(key, never)).toEqual({ serial: '12345678', firmwareVersion: '5.4.3' });
    expect(key.received).toEqual([{ command: 0x42, payload: '00' }]);
  });

  test('is asked for the next page where its first holds no serial and says that more follow', async () => {
    const key = new FakeCtapKey([5, 7, 1], { 66: ['03100101', '060204000000ff'] });
    expect(await askYubiKeyFido(key, never)).toMatchObject({ serial: '255', firmwareVersion: '5.7.1' });
    expect(key.received.map(each => each.payload)).toEqual(['00', '01']);
  });

  test('before 4.1 is not sent the command', async () => {
    const key = new FakeCtapKey([4, 0, 9], { 66: YUBIKEY_5.replaceAll(' ', '') });
    expect(await askYubiKeyFido(key, never)).toEqual({ serial: null, firmwareVersion: '4.0.9' });
    expect(key.received).toEqual([]);
  });
});

describe('a YubiKey over its OTP side', () => {
  test('computes checksums that leave the residual F0B8', () => {
    expect(crc16(hex('00bc614e c804'))).toBe(0xf0b8);
    expect(crc16(hex('00bc614e c805'))).not.toBe(0xf0b8);
  });

  test('is sent 70 bytes in pieces of 7, with the empty ones left out', () => {
    const reports = toReports(0x10, new Uint8Array());
    expect(reports.map(toHex)).toEqual(['0000000000000080', expect.stringMatching(/^0010.{4}00000089$/)]);
    const payload = new Uint8Array(64);
    payload[15] = 1;
    expect(toReports(0x10, payload).map(report => report[7])).toEqual([0x80, 0x82, 0x89]);
  });

  test('tells serial and version, and is left as it was found', async () => {
    const key = new FakeOtpKey('020301', '00bc614ec804');
    expect(await askYubiKeyOtp(key, never)).toEqual({ serial: '12345678', firmwareVersion: '2.3.1' });
    expect(key.slots).toEqual([0x10]);
    expect(key.resets).toBe(1);
  });

  test('whose serial is set to be hidden has none', async () => {
    const answer = await askYubiKeyOtp(new FakeOtpKey('020301', null), never);
    expect(answer).toEqual({ serial: null, firmwareVersion: '2.3.1' });
  });

  test('whose answer has a wrong checksum is not believed', async () => {
    await expect(askYubiKeyOtp(new FakeOtpKey('020301', '00bc614ec805'), never)).rejects.toEqual(protocolError);
  });

  test('whose answer breaks off is a protocol error', () => {
    const reply = new OtpReply(4);
    expect(reply.add(hex('00bc614ec80400c0'))).toBe('more');
    expect(() => reply.add(hex('0002030101000000'))).toThrow(protocolError);
  });
});

describe('a YubiKey over its smart card side', () => {
  const SELECT_MANAGEMENT = '00a4040008a000000527471117';
  const SELECT_OTP = '00a4040007a0000005272001';

  test('is asked through the management applet', async () => {
    const card = fakeCard({ [SELECT_MANAGEMENT]: '9000', '001d0000': `${YUBIKEY_5}9000` });
    expect(await askYubiKeyCard(card, never)).toMatchObject({ serial: '12345678', firmwareVersion: '5.4.3' });
  });

  test('is asked through the OTP applet where it is older', async () => {
    const card = fakeCard({ [SELECT_OTP]: '03040100000500009000', '00011000': '00bc614e9000' });
    expect(await askYubiKeyCard(card, never)).toMatchObject({ serial: '12345678' });
  });
});

describe('a Trussed key', () => {
  const UUID = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
  const version = (major: number, minor: number, patch: number): string =>
    ((major << 22) | (minor << 6) | patch).toString(16).padStart(8, '0');

  test('tells its number in 32 upper-case hex digits, and its version', async () => {
    const key = new FakeCtapKey([0, 0, 0], { 98: UUID, 97: version(1, 7, 2) });
    expect(await askTrussed(key, never)).toEqual({
      serial: UUID.toUpperCase(),
      firmwareVersion: '1.7.2',
    });
  });

  test('with firmware 1.0.0 has no number to tell', async () => {
    const key = new FakeCtapKey([0, 0, 0], { 98: '', 97: version(1, 0, 0) });
    expect(await askTrussed(key, never)).toEqual({ serial: null, firmwareVersion: '1.0.0' });
  });

  test('whose number is cut short is not believed', async () => {
    const key = new FakeCtapKey([0, 0, 0], { 98: 'a1b2', 97: version(1, 7, 2) });
    await expect(askTrussed(key, never)).rejects.toEqual(protocolError);
  });
});

describe('a Token2 key', () => {
  const SELECT = '00a4040008f00000014f747001';
  const READ = `8033000012d110${'00'.repeat(16)}`;

  test('tells its serial in ASCII on the smart card side', async () => {
    const serial = Buffer.from('865233000001').toString('hex');
    const card = fakeCard({ [SELECT]: '9000', [READ]: `d10c${serial}9000` });
    expect(await askToken2(card, never)).toEqual({ serial: '865233000001', firmwareVersion: null });
  });

  test('that refuses has none', async () => {
    expect(await askToken2(fakeCard({ [SELECT]: '9000' }), never)).toMatchObject({ serial: null });
    expect(await askToken2(fakeCard({}), never)).toMatchObject({ serial: null });
  });

  test.each(['9000', 'd1109000', 'd2023132 9000'])('that answers nonsense is a protocol error: %s', async answer => {
    const card = fakeCard({ [SELECT]: '9000', [READ]: answer });
    await expect(askToken2(card, never)).rejects.toEqual(protocolError);
  });
});
