/** More readers than the PC/SC binding watches, on the real service: none of them is missed. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createPcscDriver, type PcscDriver } from '../../drivers/pcsc/index.ts';
import { converse, readersIn } from '../../drivers/pcsc/service-list.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { uicc } from '../support/vcard.ts';

withPcscd('a card in the ninth of ten readers', () => {
  let pcscd: Pcscd;
  let driver: PcscDriver;
  let told: Recorder;

  beforeAll(async () => {
    pcscd = await startPcscd({ others: 4 });
  });
  afterAll(() => pcscd.stop());
  beforeEach(async () => {
    driver = createPcscDriver();
    told = recorder(driver);
    await driver.start(told.listener);
    await told.state('ready', /Virtual PCD 00 01/);
  });
  afterEach(async () => {
    await pcscd.removeAll();
    await driver.stop();
  });

  it('is read when it is put in, and told once when it is pulled', async () => {
    for (const iccid of ['8986000000000001232', '8988211000000000006']) {
      const card = await pcscd.insert(uicc({ iccid }));
      const key = await told.next('attached');
      expect(key).toMatchObject({ serialNumber: iccid, serialSource: 'iccid', problem: null });
      expect(key.reader).toMatch(/^Virtual PCD/);
      await card.remove();
      expect((await told.next('detached')).keyId).toBe(key.keyId);
    }
    expect(told.kinds()).toEqual(['attached', 'detached', 'attached', 'detached']);
    expect(driver.status().detail).not.toMatch(/No more than/);
  });

  it('is found again when the service was restarted', async () => {
    await pcscd.restart();
    await told.state('ready', /Virtual PCD 00 01/);
    await pcscd.insert(uicc({ iccid: '8986000000000001232' }), 1);
    expect(await told.next('attached')).toMatchObject({ serialNumber: '8986000000000001232' });
  });
});

it('the list of a service is read from any bytes without an error', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 600 }),
      bytes => readersIn(Buffer.from(bytes)).length <= Math.floor(bytes.length / 184),
    ),
    { numRuns: 100_000 },
  );
});

it('a service that refuses the version of the conversation is not talked to further', () => {
  const answer = Buffer.alloc(12);
  answer.writeUInt32LE(0x8010_001e, 8);
  expect(converse(4, () => undefined).take(answer)).toBe('refused');
});
