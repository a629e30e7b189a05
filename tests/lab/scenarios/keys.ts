/** Each make of key gives the right serial from the right source, on the real kernel. */
import assert from 'node:assert/strict';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { createPcscDriver } from '../../../drivers/pcsc/index.ts';
import { Eyes, Hands } from '../hands.ts';
import type { KeyOrder } from '../recipes.ts';

const notice = (message: string, detail?: object) => console.log('  notice:', message, detail);
const pcsc = createPcscDriver({ notice });
const hid = createHidDriver({ notice, keyCards: pcsc.keyCards });
const hands = new Hands();
const eyes = new Eyes(hid, pcsc);
await eyes.start();

const MAKES: readonly [KeyOrder, object][] = [
  [
    { recipe: 'plain', serial: 'FT-0001' },
    { serialNumber: 'FT-0001', serialSource: 'usb-descriptor', model: 'ePass' },
  ],
  [
    { recipe: 'bank', serial: 'LM-0001' },
    { serialNumber: 'LM-0001', serialSource: 'usb-descriptor' },
  ],
  [
    { recipe: 'yubikey5' },
    { serialNumber: '12345678', serialSource: 'yubikey-management', firmwareVersion: '5.4.3', hardwareVersion: '5.43' },
  ],
  [{ recipe: 'otpOnlyYubikey' }, { serialNumber: '12345678', serialSource: 'yubikey-otp', firmwareVersion: '2.3.1' }],
  [
    { recipe: 'nitrokey3' },
    { serialNumber: 'A1B2C3D4E5F60718293A4B5C6D7E8F90', serialSource: 'trussed-uuid', firmwareVersion: '1.7.2' },
  ],
  [{ recipe: 'token2' }, { serialNumber: '8673412345', serialSource: 'token2', transport: 'HID' }],
  [
    { recipe: 'ccidYubikey' },
    {
      serialNumber: '12345678',
      serialSource: 'yubikey-management',
      firmwareVersion: '5.4.3',
      transport: 'PCSC',
      deviceType: 'UKEY',
      vendorId: '1050',
      productId: '0404',
    },
  ],
  [{ recipe: 'securityKey' }, { serialNumber: null, firmwareVersion: '5.4.3' }],
  [{ recipe: 'silentYubikey' }, { serialNumber: null }],
  [{ recipe: 'plain', serial: null }, { serialNumber: null }],
  [{ recipe: 'plain', serial: '00000000' }, { serialNumber: null }],
  [
    { recipe: 'plain', serial: 'Ключ-1', product: '银行 UKey' },
    { serialNumber: null, model: '银行 UKey' },
  ],
];

for (const [order, expected] of MAKES) {
  const from = eyes.seen.length;
  const { place, at } = await hands.plug(order);
  const seen = await eyes.until(`${order.recipe} ${order.serial ?? ''}`, one => one.kind === 'attached', from, 30_000);
  const { serialNumber, serialSource, firmwareVersion, problem } = seen.key;
  console.log(
    `  ${order.recipe}: ${serialNumber} by ${serialSource}, firmware ${firmwareVersion}, ${Math.round(seen.at - at)} ms`,
  );
  if (problem !== null) console.log(`    ${problem}`);
  assert.partialDeepStrictEqual(seen.key, expected);
  assert.equal(problem === null, serialNumber !== null);
  await hands.pull(place);
  await eyes.until('its pulling', one => one.kind === 'detached' && one.key.keyId === seen.key.keyId, from);
  assert.equal(eyes.seen.slice(from).filter(one => one.kind === 'attached').length, 1, 'each is one key');
}
await Promise.all([hid.stop(), pcsc.stop()]);
hands.end();
