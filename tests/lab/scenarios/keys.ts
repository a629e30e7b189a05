/** Each model of key reports the right serial from the right source, on the real kernel. */
import assert from 'node:assert/strict';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { createPcscDriver } from '../../../drivers/pcsc/index.ts';
import { Bench, DriverEvents } from '../harness.ts';
import type { KeySpec } from '../key-models.ts';

const notice = (message: string, detail?: object) => console.log('  notice:', message, detail);
const pcsc = createPcscDriver({ notice });
const hid = createHidDriver({ notice, keyCards: pcsc.keyCards });
const bench = new Bench();
const events = new DriverEvents(hid, pcsc);
await events.start();

const MODELS: readonly [KeySpec, object][] = [
  [
    { model: 'plain', serial: 'FT-0001' },
    { serialNumber: 'FT-0001', serialSource: 'usb-descriptor', model: 'ePass' },
  ],
  [
    { model: 'bank', serial: 'LM-0001' },
    { serialNumber: 'LM-0001', serialSource: 'usb-descriptor' },
  ],
  [
    { model: 'yubikey5' },
    { serialNumber: '12345678', serialSource: 'yubikey-management', firmwareVersion: '5.4.3', hardwareVersion: '5.43' },
  ],
  [{ model: 'otpOnlyYubikey' }, { serialNumber: '12345678', serialSource: 'yubikey-otp', firmwareVersion: '2.3.1' }],
  [
    { model: 'nitrokey3' },
    { serialNumber: 'A1B2C3D4E5F60718293A4B5C6D7E8F90', serialSource: 'trussed-uuid', firmwareVersion: '1.7.2' },
  ],
  [{ model: 'token2' }, { serialNumber: '8673412345', serialSource: 'token2', transport: 'HID' }],
  [
    { model: 'ccidYubikey' },
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
  [{ model: 'securityKey' }, { serialNumber: null, firmwareVersion: '5.4.3' }],
  [{ model: 'silentYubikey' }, { serialNumber: null }],
  [{ model: 'plain', serial: null }, { serialNumber: null }],
  [{ model: 'plain', serial: '00000000' }, { serialNumber: null }],
  [
    { model: 'plain', serial: 'Ключ-1', product: '银行 UKey' },
    { serialNumber: null, model: '银行 UKey' },
  ],
];

for (const [spec, expected] of MODELS) {
  const from = events.all.length;
  const { id, at } = await bench.plug(spec);
  const seen = await events.until(`${spec.model} ${spec.serial ?? ''}`, one => one.kind === 'attached', from, 30_000);
  const { serialNumber, serialSource, firmwareVersion, problem } = seen.key;
  console.log(
    `  ${spec.model}: ${serialNumber} by ${serialSource}, firmware ${firmwareVersion}, ${Math.round(seen.at - at)} ms`,
  );
  if (problem !== null) console.log(`    ${problem}`);
  assert.partialDeepStrictEqual(seen.key, expected);
  assert.equal(problem === null, serialNumber !== null);
  await bench.unplug(id);
  await events.until('its unplugging', one => one.kind === 'detached' && one.key.keyId === seen.key.keyId, from);
  assert.equal(events.all.slice(from).filter(one => one.kind === 'attached').length, 1, 'each is one key');
}
await Promise.all([hid.stop(), pcsc.stop()]);
await bench.end();
