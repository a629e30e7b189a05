import { createHidDriver } from '../../drivers/hid/index.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { driverContract } from './driver.ts';

driverContract('hid', async () => {
  const system = new FakeHid();
  let unit = 0;
  return {
    driver: createHidDriver({ system }),
    serialNumber: 'SN-0001',
    async plug() {
      unit = system.plug({ serial: 'SN-0001' });
    },
    async unplug() {
      system.pull(unit);
    },
    another: () => createHidDriver({ system }),
  };
});
