import { afterAll, beforeAll, describe } from 'vitest';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { PCSC_TRANSPORTS } from '../support/pcsc-transports.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { uicc, type VirtualCard } from '../support/vcard.ts';
import { driverContract } from './driver.ts';

withPcscd('with the real PC/SC service', () => {
  let pcscd: Pcscd;
  beforeAll(async () => {
    pcscd = await startPcscd();
  });
  afterAll(() => pcscd.stop());

  describe.each(PCSC_TRANSPORTS)('through %s', (_, load) => {
    driverContract('pcsc', async () => {
      let card: VirtualCard | null = null;
      const iccid = '8986000000000001232';
      await pcscd.restart();
      return {
        driver: createPcscDriver({ load }),
        serialNumber: iccid,
        async plug() {
          card = await pcscd.insert(uicc({ iccid }));
        },
        async unplug() {
          await card?.remove();
        },
        another: () => createPcscDriver({ load }),
      };
    });
  });
});
