import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Driver, TrafficLine } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { toHex } from '../../drivers/simkey/bytes.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { classicSim, uicc } from '../support/vcard.ts';

withPcscd('cards in a reader of the real PC/SC service', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let told: Recorder;
  let traffic: TrafficLine[];

  beforeAll(async () => {
    pcscd = await startPcscd();
  });
  afterAll(() => pcscd.stop());

  beforeEach(async () => {
    traffic = [];
    driver = createPcscDriver({ traffic: line => traffic.push(line) });
    told = recorder(driver);
    await driver.start(told.listener);
  });
  afterEach(() => driver.stop());

  it('a UICC is attached with its ICCID, and detached once when it is pulled', async () => {
    const card = await pcscd.insert(uicc({ iccid: '8986000000000001232' }));
    const key = await told.next('attached');
    expect(key).toMatchObject({
      deviceType: 'SIMKEY',
      serialNumber: '8986000000000001232',
      serialSource: 'iccid',
      model: 'UICC',
      transport: 'PCSC',
      reader: 'Virtual PCD 00 00',
      simulated: false,
      problem: null,
    });
    expect(driver.keys()).toEqual([key]);
    await card.remove();
    expect(await told.next('detached')).toEqual(key);
    expect(driver.keys()).toEqual([]);
    expect(told.kinds()).toEqual(['attached', 'detached']);
  });

  it('a classic SIM is read in class A0', async () => {
    const card = await pcscd.insert(classicSim({ iccid: '89019900000000000427' }));
    expect(await told.next('attached')).toMatchObject({
      serialNumber: '89019900000000000427',
      model: 'SIM',
      problem: null,
    });
    expect(traffic.map(line => toHex(line.bytes))).toContain('A0A40000022FE2');
    await card.remove();
    await told.next('detached');
  });
});
