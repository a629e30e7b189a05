import { describe, expect, it } from 'vitest';
import { HardwareError } from '../../drivers/driver.ts';
import { toHardwareError } from '../../drivers/pcsc/errors.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { whyNotLoaded } from '../../drivers/pcsc/library.ts';
import { isContactless, isPartOfAKey } from '../../drivers/pcsc/names.ts';
import { fromHex } from '../../drivers/protocols/hex.ts';

/** An error as the binding throws it: a name in `code`. */
function native(code: string): Error {
  return Object.assign(new Error(`[ ${code} ] - Error in native function`), { code });
}

describe('a PC/SC error is told in words, with what to do', () => {
  it.each([
    ['NoService', 'unavailable', /pcscd, the PC\/SC service, is not running\. (Start|Install)/],
    ['ServiceStopped', 'unavailable', /is not running/],
    ['CommError', 'unavailable', /is not running/],
    ['NoReadersAvailable', 'unavailable', /No card reader is plugged in/],
    ['ReaderUnavailable', 'removed', /reader was unplugged/],
    ['NoSmartCard', 'removed', /card was removed/],
    ['RemovedCard', 'removed', /card was removed/],
    ['NotTransacted', 'removed', /lost contact/],
    ['UnresponsiveCard', 'mute', /upside down.*wrong type.*dirty/],
    ['UnpoweredCard', 'mute', /no sign of life/],
    ['ResetCard', 'busy', /keeps resetting the card/],
    ['SharingViolation', 'busy', /Another program has the card for itself/],
    [
      'SecurityViolation',
      'no-permission',
      /polkit.*SSH.*org\.debian\.pcsc-lite\.access_pcsc.*org\.debian\.pcsc-lite\.access_card/,
    ],
    ['ProtoMismatch', 'protocol', /do not understand each other/],
    ['Timeout', 'timeout', /gave up waiting/],
    ['SomethingNew', 'protocol', /The reader failed \(SomethingNew\)/],
  ])('%s', (code, expected, words) => {
    const cause = native(code);
    const error = toHardwareError(cause);
    expect(error).toBeInstanceOf(HardwareError);
    expect(error).toMatchObject({ code: expected, cause });
    expect(error.message).toMatch(words);
  });

  it('what is in words already stays as it is', () => {
    const error = new HardwareError('timeout', 'in words');
    expect(toHardwareError(error)).toBe(error);
  });
});

describe('a binding that does not load', () => {
  const missing =
    'Required addon dependency not found (@pcsc-mini/linux-x86_64-gnu): Error: libpcsclite.so.1: cannot open shared object file: No such file or directory. Please make sure optional dependencies are installed.';

  it.each([
    [missing, /apt-get install libpcsclite1/],
    ["Cannot find module '@pcsc-mini/linux-riscv64-gnu'", /npm ci/],
    ['Unsupported platform: sunos-sparc', /npm ci/],
    ['something else\nwith a stack', /could not be loaded: something else$/],
  ])('%s', (message, words) => {
    expect(whyNotLoaded(message)).toMatch(words);
  });

  it('makes the driver unavailable with the words, and never throws', async () => {
    const driver = createPcscDriver({
      load: () => {
        throw new HardwareError('unavailable', whyNotLoaded(missing));
      },
    });
    await driver.start(() => undefined);
    expect(driver.status()).toMatchObject({ state: 'unavailable', detail: expect.stringMatching(/libpcsclite1/) });
    expect(driver.keys()).toEqual([]);
    await driver.stop();
  });
});

describe('readers', () => {
  it.each([
    'Yubico YubiKey OTP+FIDO+CCID 00 00',
    'Nitrokey Nitrokey 3 [CCID/ICCD Interface] 00 00',
    'Token2 FIDO2 Security Key 00 00',
    'Free Software Initiative of Japan Gnuk (FSIJ-1.2.19) 00 00',
  ])('%s is part of a USB key and left alone', name => {
    expect(isPartOfAKey(name)).toBe(true);
  });

  it.each(['Alcor Micro AU9560 00 00', 'Virtual PCD 00 00', 'Gemalto PC Twin Reader 00 00', 'ACS ACR122U 00 00'])(
    '%s is watched',
    name => {
      expect(isPartOfAKey(name)).toBe(false);
    },
  );

  it('are contactless by name, or by the answer to reset they invent', () => {
    const contact = fromHex('3B9F96801FC78031E073FE211B63E208A8830F900088');
    expect(isContactless('ACS ACR122U PICC Interface 00 00', contact)).toBe(true);
    expect(isContactless('Some Reader', fromHex('3B8F8001804F0CA000000306030001000000006A'))).toBe(true);
    expect(isContactless('Alcor Micro AU9560 00 00', contact)).toBe(false);
  });
});
