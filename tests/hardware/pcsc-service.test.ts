import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '../../drivers/driver.ts';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { type Recorder, recorder } from '../support/key-events.ts';
import { PCSC_TRANSPORTS } from '../support/pcsc-transports.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { silentFrom, uicc } from '../support/vcard.ts';

const ICCID = '8986000000000001232';

withPcscd('a PC/SC service that starts and stops', () => {
  let pcscd: Pcscd;
  beforeAll(async () => {
    pcscd = await startPcscd({ started: false });
  });
  afterAll(() => pcscd.stop());

  describe.each(PCSC_TRANSPORTS)('through %s', (_, load) => {
    let driver: Driver;
    let recorded: Recorder;

    beforeEach(() => {
      driver = createPcscDriver({ load, retryService: { first: 50, most: 200 }, retryAfter: 50 });
      recorded = recorder(driver);
    });
    afterEach(async () => {
      await driver.stop();
      await pcscd.halt();
    });

    it('while it is not running, the driver starts, is unavailable and explains how to start the service', async () => {
      await driver.start(recorded.listener);
      expect(driver.status()).toMatchObject({ name: 'pcsc', state: 'unavailable' });
      expect(driver.status().detail).toMatch(/pcscd, the PC\/SC service, is not running\. (Start|Install) it/);
      expect(driver.keys()).toEqual([]);
    });

    it('after a late start it is found, and a card is read', async () => {
      await driver.start(recorded.listener);
      await pcscd.start();
      await recorded.state('ready', /Virtual PCD 00 00/);
      const card = await pcscd.insert(uicc({ iccid: ICCID }));
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: ICCID });
      await card.remove();
      await recorded.next('detached');
    });

    it.each(['SIGTERM', 'SIGKILL'] as const)(
      'after %s and a restart, three times, it is found again each time',
      async signal => {
        await pcscd.start();
        // A key that is reported as detached then was not unplugged.
        const states: string[] = [];
        await driver.start(event => {
          if (event.kind === 'detached') states.push(driver.status().state);
          recorded.listener(event);
        });
        for (let round = 0; round < 3; round++) {
          const card = await pcscd.insert(uicc({ iccid: ICCID }));
          const key = await recorded.next('attached');
          expect(key.serialNumber).toBe(ICCID);
          await pcscd.halt(signal);
          expect(await recorded.next('detached')).toEqual(key);
          await recorded.state('unavailable', /is not running/);
          await card.remove();
          await pcscd.start();
          await recorded.state('ready', /Virtual PCD 00 00/);
        }
        expect(recorded.kinds()).toEqual(['attached', 'detached', 'attached', 'detached', 'attached', 'detached']);
        expect(states).toEqual(['unavailable', 'unavailable', 'unavailable']);
      },
    );

    it('after it was killed during a read no key is left, and the card is read after a restart', async () => {
      await pcscd.start();
      await driver.start(recorded.listener);
      const card = await pcscd.insert(silentFrom('00B0', uicc({ iccid: ICCID })));
      await card.seen('00B0');
      await pcscd.halt('SIGKILL');
      await recorded.state('unavailable');
      expect(driver.keys()).toEqual([]);
      await pcscd.start();
      await recorded.state('ready', /Virtual PCD 00 00/);
      const again = await pcscd.insert(uicc({ iccid: ICCID }));
      expect(await recorded.next('attached')).toMatchObject({ serialNumber: ICCID, problem: null });
      await again.remove();
    });

    it('while it takes no new connections the reason is reported, and the card is read when it does again', async () => {
      await pcscd.start();
      await driver.start(recorded.listener);
      await pcscd.hidden(async () => {
        await pcscd.insert(uicc({ iccid: ICCID }));
        const { problem } = await recorded.next('attached');
        expect(problem).toMatch(/pcscd, the PC\/SC service, is not running/);
      });
      expect(await recorded.next('changed')).toMatchObject({ serialNumber: ICCID, problem: null });
    });

    it('after it died, garbage collection of its client does not end the process', async () => {
      await pcscd.start();
      await driver.start(recorded.listener);
      await pcscd.halt();
      await recorded.state('unavailable');
      await pcscd.start();
      await recorded.state('ready', /Virtual PCD 00 00/);
      await pcscd.insert(uicc({ iccid: ICCID }));
      await recorded.next('attached');
      for (let round = 0; round < 5; round++) {
        collectGarbage();
        await new Promise(resolve => setImmediate(resolve));
      }
    });
  });
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
