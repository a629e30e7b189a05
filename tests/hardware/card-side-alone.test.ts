/** A security key that shows a smart card side and nothing else, on the real PC/SC service. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { cardOf, yubiKeyCard } from '../support/vcard.ts';

withPcscd('a YubiKey that shows its smart card side alone', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let told: Recorder;

  beforeAll(async () => {
    pcscd = await startPcscd({ reader: 'Yubico YubiKey CCID' });
  });
  afterAll(() => pcscd.stop());
  beforeEach(async () => {
    driver = createPcscDriver();
    told = recorder(driver);
    await driver.start(told.listener);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await driver.stop();
  });

  it('is a UKEY with the serial and the firmware version of its management applet', async () => {
    const card = await pcscd.insert(yubiKeyCard({ serial: '00BC614E', version: '050403' }));
    const key = await told.next('attached');
    expect(key).toMatchObject({
      deviceType: 'UKEY',
      serialNumber: '12345678',
      serialSource: 'yubikey-management',
      firmwareVersion: '5.4.3',
      manufacturer: 'Yubico',
      model: 'YubiKey CCID',
      transport: 'PCSC',
      reader: 'Yubico YubiKey CCID 00 00',
      problem: null,
    });
    await card.remove();
    expect((await told.next('detached')).keyId).toBe(key.keyId);
    expect(told.kinds()).toEqual(['attached', 'detached']);
  });

  it('is asked by its OTP applet where it is too old for the management applet', async () => {
    await pcscd.insert(yubiKeyCard({ serial: '0012D687', version: '030400', management: false }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: '1234567', serialSource: 'yubikey-management' });
  });

  it('that tells no serial is listed, and says what to do', async () => {
    await pcscd.insert(cardOf([]));
    const key = await told.next('attached');
    expect(key).toMatchObject({ deviceType: 'UKEY', serialNumber: null, serialSource: null });
    expect(key.problem).toMatch(/no readable serial.*by hand/);
  });
});
