import type { Driver } from '../../drivers/driver.ts';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { driverContract } from './driver.ts';

for (const [index, serialNumber] of [
  [1, 'SIM-UKEY-0001'],
  [2, 'SIM-SIMKEY-0002'],
] as const) {
  driverContract(`simulated (${serialNumber})`, async () => {
    const driver = createSimulatedDriver({ count: 0 });
    return {
      driver,
      serialNumber,
      async plug() {
        await driver.attach(index);
      },
      unplug: () => driver.detach().catch(() => undefined),
      another: () => simulatedAlone(index),
    };
  });
}

/** A driver that starts with only key number `index`. */
function simulatedAlone(index: number): Driver {
  const driver = createSimulatedDriver({ count: index });
  return {
    name: driver.name,
    status: () => driver.status(),
    keys: () => driver.keys().slice(index - 1),
    prove: (...request) => driver.prove(...request),
    stop: () => driver.stop(),
    async start(listener) {
      await driver.start(event => {
        if (event.kind === 'status' || event.key.serialNumber?.endsWith(`000${index}`)) listener(event);
      });
    },
  };
}
