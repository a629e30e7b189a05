import { Refusal } from '../domain/decision.ts';
import { use } from '../domain/device.ts';
import { retrying } from '../services/context.ts';
import type { Store } from '../store/store.ts';

export interface UsageParts {
  readonly store: Pick<Store, 'device' | 'devicesBySerial' | 'commit'>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Records that a key was plugged in for so many milliseconds: one use of its device, of the whole seconds since the later of
 * plugging and activation. Nothing where the serial is not registered or the device not ACTIVE. A simulated key counts like a
 * real one: a device that bears its serial was registered for the sake of trying just this.
 */
export async function reportUsage({ store, now }: UsageParts, serialNumber: string, plugged: number): Promise<void> {
  const registration = (await store.devicesBySerial([serialNumber])).get(serialNumber);
  if (registration?.status !== 'ACTIVE') return;
  await retrying(async () => {
    const device = await store.device(registration.number);
    if (!device) return;
    const at = now();
    const active = device.activatedAt === null ? plugged : Math.max(0, at - device.activatedAt);
    const used = use(device, Math.floor(Math.min(plugged, active) / 1000));
    if (used instanceof Refusal) return;
    await store.commit({ at, actor: null, requestId: null, changes: [used.change], guards: used.guards });
  });
}
