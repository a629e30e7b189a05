import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { silentFrom, uicc } from '../support/vcard.ts';

const ICCID = '8986000000000001232';

withPcscd('a PC/SC service that comes and goes', () => {
  let pcscd: Pcscd;
  let driver: Driver;
  let told: Recorder;

  beforeAll(async () => {
    pcscd = await startPcscd({ started: false });
  });
  beforeEach(() => {
    driver = createPcscDriver({ lookAgainAfter: { first: 50, most: 200 }, deadline: 1_500 });
    told = recorder(driver);
  });
  afterEach(async () => {
    await driver.stop();
    await pcscd.halt();
  });
  afterAll(() => pcscd.stop());

  it('while it does not run the driver is unavailable, says how to start it, and start resolves all the same', async () => {
    await driver.start(told.listener);
    expect(driver.status()).toMatchObject({ name: 'pcsc', state: 'unavailable' });
    expect(driver.status().detail).toMatch(/pcscd, the PC\/SC service, is not running\. (Start|Install) it/);
    expect(driver.keys()).toEqual([]);
  });

  it('started late, it is found, and a card is read', async () => {
    await driver.start(told.listener);
    await pcscd.start();
    await told.state('ready', /Virtual PCD 00 00/);
    const card = await pcscd.insert(uicc({ iccid: ICCID }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: ICCID });
    await card.remove();
    await told.next('detached');
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'ended by %s and started again three times, it is found again each time',
    async signal => {
      await pcscd.start();
      await driver.start(told.listener);
      for (let round = 0; round < 3; round++) {
        const card = await pcscd.insert(uicc({ iccid: ICCID }));
        const key = await told.next('attached');
        expect(key.serialNumber).toBe(ICCID);
        await pcscd.halt(signal);
        expect(await told.next('detached')).toEqual(key);
        await told.state('unavailable', /is not running/);
        await card.remove();
        await pcscd.start();
        await told.state('ready', /Virtual PCD 00 00/);
      }
      expect(told.kinds()).toEqual(['attached', 'detached', 'attached', 'detached', 'attached', 'detached']);
    },
  );

  it('ended in the middle of a read, it leaves no key behind, and the card is read when it is back', async () => {
    await pcscd.start();
    await driver.start(told.listener);
    const card = await pcscd.insert(silentFrom('00B0', uicc({ iccid: ICCID })));
    await card.seen('00B0');
    await pcscd.halt('SIGKILL');
    await told.state('unavailable');
    expect(driver.keys()).toEqual([]);
    await pcscd.start();
    await told.state('ready', /Virtual PCD 00 00/);
    const again = await pcscd.insert(uicc({ iccid: ICCID }));
    expect(await told.next('attached')).toMatchObject({ serialNumber: ICCID, problem: null });
    await again.remove();
  });

  it('what is left of a client whose service died does not end the process when garbage is collected', async () => {
    await pcscd.start();
    await driver.start(told.listener);
    await pcscd.halt();
    await told.state('unavailable');
    await pcscd.start();
    await told.state('ready', /Virtual PCD 00 00/);
    await pcscd.insert(uicc({ iccid: ICCID }));
    await told.next('attached');
    for (let round = 0; round < 5; round++) {
      collectGarbage();
      await new Promise(resolve => setImmediate(resolve));
    }
  });
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
