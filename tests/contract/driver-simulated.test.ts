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

/** A driver that finds key number `index` alone at its start. */
function simulatedAlone(index: number) {
  const driver = createSimulatedDriver({ count: index });
  return {
    ...driver,
    async start(listener: Parameters<typeof driver.start>[0]) {
      await driver.start(event => {
        if (event.kind === 'status' || event.key.serialNumber?.endsWith(`000${index}`)) listener(event);
      });
    },
    keys: () => driver.keys().slice(index - 1),
  };
}
