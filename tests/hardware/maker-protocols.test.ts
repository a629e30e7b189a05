import { describe, expect, test } from 'vitest';
import { crc16, OtpAnswer, toReports } from '../../drivers/protocols/otp-reports.ts';
import { readToken2 } from '../../drivers/protocols/token2.ts';
import { readTrussed } from '../../drivers/protocols/trussed.ts';
import { parseConfig, readYubiKeyCard, readYubiKeyFido, readYubiKeyOtp } from '../../drivers/protocols/yubikey.ts';
import { FakeCtapKey, FakeOtpKey, fakeCard, hex, toHex } from '../support/fake-ukey.ts';

const never = new AbortController().signal;
const protocolError = expect.objectContaining({ name: 'HardwareError', code: 'protocol' });

// Length, then: serial 00bc614e = 12345678, form factor 03 (USB-C), version 5.4.3, an unknown tag.
const YUBIKEY_5 = '11 0204 00bc614e 0401 03 0503 050403 7f01 00';
const SECURITY_KEY = '08 0401 41 0503 050403';

describe("a YubiKey's management response", () => {
  test('contains serial and version', () => {
    expect(parseConfig(hex(YUBIKEY_5))).toEqual({
      serial: '12345678',
      firmwareVersion: '5.4.3',
      morePages: false,
    });
  });

  test('of a Security Key contains no serial', () => {
    expect(parseConfig(hex(SECURITY_KEY))).toMatchObject({ serial: null, firmwareVersion: '5.4.3' });
  });

  test.each(['', '05', '020204', '04 0208 0000', '02 0200'])('that is invalid is a protocol error: %j', bytes => {
    expect(() => parseConfig(hex(bytes))).toThrow(protocolError);
  });
});

describe('a YubiKey over CTAPHID', () => {
  test('is read with command 42 for page 0', async () => {
    const key = new FakeCtapKey([5, 4, 3], { 66: YUBIKEY_5.replaceAll(' ', '') });
    expect(await readYubiKeyFido(key, never)).toEqual({ serial: '12345678', firmwareVersion: '5.4.3' });
    expect(key.received).toEqual([{ command: 0x42, payload: '00' }]);
  });

  test('is asked for the next page if the first has no serial and reports that more follow', async () => {
    const key = new FakeCtapKey([5, 7, 1], { 66: ['03100101', '060204000000ff'] });
    expect(await readYubiKeyFido(key, never)).toMatchObject({ serial: '255', firmwareVersion: '5.7.1' });
    expect(key.received.map(each => each.payload)).toEqual(['00', '01']);
  });

  test('with firmware before 4.1 is never sent the command', async () => {
    const key = new FakeCtapKey([4, 0, 9], { 66: YUBIKEY_5.replaceAll(' ', '') });
    expect(await readYubiKeyFido(key, never)).toEqual({ serial: null, firmwareVersion: '4.0.9' });
    expect(key.received).toEqual([]);
  });
});

describe('a YubiKey over its OTP interface', () => {
  test('has checksums with the residual F0B8', () => {
    expect(crc16(hex('00bc614e c804'))).toBe(0xf0b8);
    expect(crc16(hex('00bc614e c805'))).not.toBe(0xf0b8);
  });

  test('is sent 70 bytes in pieces of 7, without the empty pieces in between', () => {
    const reports = toReports(0x10, new Uint8Array());
    expect(reports.map(toHex)).toEqual(['0000000000000080', expect.stringMatching(/^0010.{4}00000089$/)]);
    const payload = new Uint8Array(64);
    payload[15] = 1;
    expect(toReports(0x10, payload).map(report => report[7])).toEqual([0x80, 0x82, 0x89]);
  });

  test('reports serial and version, and is reset after the answer', async () => {
    const key = new FakeOtpKey('020301', '00bc614ec804');
    expect(await readYubiKeyOtp(key, never)).toEqual({ serial: '12345678', firmwareVersion: '2.3.1' });
    expect(key.slots).toEqual([0x10]);
    expect(key.resets).toBe(1);
  });

  test('has no serial if the serial is hidden by its settings', async () => {
    const answer = await readYubiKeyOtp(new FakeOtpKey('020301', null), never);
    expect(answer).toEqual({ serial: null, firmwareVersion: '2.3.1' });
  });

  test('fails with a protocol error if the checksum is wrong', async () => {
    await expect(readYubiKeyOtp(new FakeOtpKey('020301', '00bc614ec805'), never)).rejects.toEqual(protocolError);
  });

  test('fails with a protocol error if the answer stops in the middle', () => {
    const partial = new OtpAnswer(4);
    expect(partial.add(hex('00bc614ec80400c0'))).toBe('more');
    expect(() => partial.add(hex('0002030101000000'))).toThrow(protocolError);
  });
});

describe('a YubiKey over its smart card interface', () => {
  const SELECT_MANAGEMENT = '00a4040008a000000527471117';
  const SELECT_OTP = '00a4040007a0000005272001';

  test('is read with the management application', async () => {
    const card = fakeCard({ [SELECT_MANAGEMENT]: '9000', '001d0000': `${YUBIKEY_5}9000` });
    expect(await readYubiKeyCard(card, never)).toMatchObject({ serial: '12345678', firmwareVersion: '5.4.3' });
  });

  test('is read with the OTP application if it has no management application', async () => {
    const card = fakeCard({ [SELECT_OTP]: '03040100000500009000', '00011000': '00bc614e9000' });
    expect(await readYubiKeyCard(card, never)).toMatchObject({ serial: '12345678' });
  });
});

describe('a Trussed key', () => {
  const UUID = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
  const version = (major: number, minor: number, patch: number): string =>
    ((major << 22) | (minor << 6) | patch).toString(16).padStart(8, '0');

  test('reports its number in 32 upper-case hex digits, and its version', async () => {
    const key = new FakeCtapKey([0, 0, 0], { 98: UUID, 97: version(1, 7, 2) });
    expect(await readTrussed(key, never)).toEqual({
      serial: UUID.toUpperCase(),
      firmwareVersion: '1.7.2',
    });
  });

  test('with firmware 1.0.0 has no number', async () => {
    const key = new FakeCtapKey([0, 0, 0], { 98: '', 97: version(1, 0, 0) });
    expect(await readTrussed(key, never)).toEqual({ serial: null, firmwareVersion: '1.0.0' });
  });

  test('fails with a protocol error if its number is too short', async () => {
    const key = new FakeCtapKey([0, 0, 0], { 98: 'a1b2', 97: version(1, 7, 2) });
    await expect(readTrussed(key, never)).rejects.toEqual(protocolError);
  });
});

describe('a Token2 key', () => {
  const SELECT = '00a4040008f00000014f747001';
  const READ = `8033000012d110${'00'.repeat(16)}`;

  test('reports its serial in ASCII over the smart card interface', async () => {
    const serial = Buffer.from('865233000001').toString('hex');
    const card = fakeCard({ [SELECT]: '9000', [READ]: `d10c${serial}9000` });
    expect(await readToken2(card, never)).toEqual({ serial: '865233000001', firmwareVersion: null });
  });

  test('that refuses the command has no serial', async () => {
    expect(await readToken2(fakeCard({ [SELECT]: '9000' }), never)).toMatchObject({ serial: null });
    expect(await readToken2(fakeCard({}), never)).toMatchObject({ serial: null });
  });

  test.each(['9000', 'd1109000', 'd2023132 9000'])(
    'fails with a protocol error if the answer is invalid: %s',
    async answer => {
      const card = fakeCard({ [SELECT]: '9000', [READ]: answer });
      await expect(readToken2(card, never)).rejects.toEqual(protocolError);
    },
  );
});
