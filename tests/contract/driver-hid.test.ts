import { createHidDriver } from '../../drivers/hid/index.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { driverContract } from './driver.ts';

driverContract('hid', async () => {
  const system = new FakeHid();
  let address = 0;
  return {
    driver: createHidDriver({ system }),
    serialNumber: 'SN-0001',
    async plug() {
      address = system.plug({ serial: 'SN-0001' });
    },
    async unplug() {
      system.unplug(address);
    },
    another: () => createHidDriver({ system }),
  };
});
