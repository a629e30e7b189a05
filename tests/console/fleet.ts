/** Devices for tests of the console, made in batches. */

import type { TestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';

/** A device of a fleet. */
export interface FleetDevice {
  readonly deviceId: string;
  readonly serialNumber: string;
  readonly activationCode: string;
}

/** Registers `count` devices of a manufacturer with serial numbers NAME-0000 and so on; the first `active` of them are activated. */
export async function fleet(daemon: TestDaemon, name: string, count: number, active = 0): Promise<FleetDevice[]> {
  const devices = Array.from({ length: count }, (_, i) => ({
    deviceType: 'UKEY',
    serialNumber: `${name}-${`${i}`.padStart(4, '0')}`,
    manufacturer: name,
    model: 'One',
    tags: { lot: `${i % 2}` },
  }));
  const made = data(await daemon.call('POST', '/api/devices/batch-register', { devices })).results as FleetDevice[];
  for (let i = 0; i < active; i += 1000) {
    const items = made
      .slice(i, Math.min(active, i + 1000))
      .map(({ deviceId, activationCode }) => ({ deviceId, activationCode, userId: 'alice' }));
    data(await daemon.call('POST', '/api/devices/batch-update', { operation: 'ACTIVATE', items }));
  }
  return made;
}

/** Number of devices of a manufacturer in a state. */
export async function countIn(daemon: TestDaemon, name: string, status: string): Promise<number> {
  const list = await daemon.call('GET', `/api/devices/list?manufacturer=${name}&status=${status}`);
  return data(list).pagination.total;
}
