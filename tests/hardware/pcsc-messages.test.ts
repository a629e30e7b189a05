import { describe, expect, it } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';
import { explainLoadFailure, isNotInstalled } from '../../drivers/pcsc/advice.ts';
import { toHardwareError } from '../../drivers/pcsc/errors.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { isContactless, isSecurityKeyReader } from '../../drivers/pcsc/reader-names.ts';
import { fromHex } from '../../drivers/protocols/hex.ts';

/** An error as the binding throws it: a name in `code`. */
function native(code: string): Error {
  return Object.assign(new Error(`[ ${code} ] - Error in native function`), { code });
}

describe('a PC/SC error has a message that explains what to do', () => {
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
    ['SharingViolation', 'busy', /Another program has exclusive access to the card/],
    [
      'SecurityViolation',
      'no-permission',
      /polkit.*SSH.*org\.debian\.pcsc-lite\.access_pcsc.*org\.debian\.pcsc-lite\.access_card/,
    ],
    ['ProtoMismatch', 'protocol', /no protocol in common/],
    ['Timeout', 'timeout', /timed out waiting/],
    ['SomethingNew', 'protocol', /The reader failed \(SomethingNew\)/],
  ])('%s', (code, expected, words) => {
    const cause = native(code);
    const error = toHardwareError(cause);
    expect(error).toBeInstanceOf(HardwareError);
    expect(error).toMatchObject({ code: expected, cause });
    expect(error.message).toMatch(words);
  });

  it('a HardwareError stays unchanged', () => {
    const error = new HardwareError('timeout', 'a message');
    expect(toHardwareError(error)).toBe(error);
  });
});

describe('a binding that does not load is explained', () => {
  const missing =
    'Required addon dependency not found (@pcsc-mini/linux-x86_64-gnu): Error: libpcsclite.so.1: cannot open shared object file: No such file or directory. Please make sure optional dependencies are installed.';

  it.each([
    [missing, /apt-get install libpcsclite1/],
    ["Cannot find module '@pcsc-mini/linux-riscv64-gnu'", /npm ci/],
    ['Unsupported platform: sunos-sparc', /npm ci/],
    ['something else\nwith a stack', /could not be loaded: something else$/],
  ])('%s', (message, words) => {
    expect(explainLoadFailure(message)).toMatch(words);
  });

  it.each([
    [missing, false],
    ["Cannot find module '@pcsc-mini/linux-riscv64-gnu'", true],
    ['Unsupported platform: sunos-sparc', true],
    ['something else', false],
  ])('a package that npm did not install is distinguished from a library that is missing: %s', (message, expected) => {
    expect(isNotInstalled(new Error(message))).toBe(expected);
  });

  it('in the status of the driver, which never throws', async () => {
    const driver = createPcscDriver({
      load: () => {
        throw new HardwareError('unavailable', explainLoadFailure(missing));
      },
    });
    await driver.start(() => undefined);
    expect(driver.status()).toMatchObject({ state: 'unavailable', detail: expect.stringMatching(/libpcsclite1/) });
    expect(driver.keys()).toEqual([]);
    await driver.stop();
  });
});

describe('a reader', () => {
  it.each([
    'Yubico YubiKey OTP+FIDO+CCID 00 00',
    'Nitrokey Nitrokey 3 [CCID/ICCD Interface] 00 00',
    'Token2 FIDO2 Security Key 00 00',
    'Free Software Initiative of Japan Gnuk (FSIJ-1.2.19) 00 00',
  ])('%s is inside a security key', name => {
    expect(isSecurityKeyReader(name)).toBe(true);
  });

  it.each(['Alcor Micro AU9560 00 00', 'Virtual PCD 00 00', 'Gemalto PC Twin Reader 00 00', 'ACS ACR122U 00 00'])(
    '%s is not inside a security key',
    name => {
      expect(isSecurityKeyReader(name)).toBe(false);
    },
  );

  it('is contactless if its name or an ATR that it made up reports this', () => {
    const contact = fromHex('3B9F96801FC78031E073FE211B63E208A8830F900088');
    expect(isContactless('ACS ACR122U PICC Interface 00 00', contact)).toBe(true);
    expect(isContactless('Some Reader', fromHex('3B8F8001804F0CA000000306030001000000006A'))).toBe(true);
    expect(isContactless('Alcor Micro AU9560 00 00', contact)).toBe(false);
  });
});
