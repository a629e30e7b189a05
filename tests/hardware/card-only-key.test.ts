/** A security key whose only interface is the smart card, on the real PC/SC service. */
import { expect, it } from 'vitest';
import { anchor } from '../proof/fixtures.ts';
import { pcscTests } from '../support/driver-tests.ts';
import { withPcscd } from '../support/pcscd.ts';
import { asking, judged } from '../support/proof-requests.ts';
import { cardRoot } from '../support/test-scp11b-card.ts';
import { cardOf, yubiKeyCard } from '../support/vcard.ts';
import { yubiKey574 } from '../support/yubikey-574.ts';

withPcscd('a YubiKey whose only interface is the smart card', () => {
  const pcsc = pcscTests('Yubico YubiKey CCID');

  it('is a UKEY with the serial and the firmware version of its management application', async () => {
    const card = await pcsc.pcscd.insert(yubiKeyCard({ serial: '00BC614E', version: '050403' }));
    const key = await pcsc.recorded.next('attached');
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
    expect((await pcsc.recorded.next('detached')).keyId).toBe(key.keyId);
    // Its report about itself may have been read as well.
    expect(pcsc.recorded.kinds().filter(kind => kind !== 'changed')).toEqual(['attached', 'detached']);
  });

  it('shows what it is, and proves it by SCP11b once', async () => {
    const root = cardRoot();
    await pcsc.pcscd.insert(yubiKey574({ root }).program);
    const { keyId } = await pcsc.recorded.next('attached');
    expect((await pcsc.recorded.next('changed')).claims).toEqual({
      firmware: '5.7.4',
      formFactor: 'usb-c-keychain',
      fips: false,
    });
    const asked = asking({ anchors: [anchor(root)] }, '12345678');
    const prove = () =>
      pcsc.driver.prove(keyId, asked.request, { signal: new AbortController().signal, onTouch: () => {} });
    expect(judged(await prove(), asked).proof).toMatchObject({ grade: 'unit', serial: '12345678' });
    await expect(prove()).rejects.toMatchObject({ code: 'busy' });
  });

  it('is read with its OTP application if it has no management application', async () => {
    await pcsc.pcscd.insert(yubiKeyCard({ serial: '0012D687', version: '030400', management: false }));
    expect(await pcsc.recorded.next('attached')).toMatchObject({
      serialNumber: '1234567',
      serialSource: 'yubikey-management',
    });
  });

  it('without a serial is listed, and its problem explains what to do', async () => {
    await pcsc.pcscd.insert(cardOf([]));
    const key = await pcsc.recorded.next('attached');
    expect(key).toMatchObject({ deviceType: 'UKEY', serialNumber: null, serialSource: null });
    expect(key.problem).toMatch(/no readable serial.*printed on it/);
  });
});
