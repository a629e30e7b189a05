/** Attached keys and their registrations: how a key is shown, and how its use is recorded. */
import type { AttachedKey } from '../../drivers/driver.ts';
import { descriptionOf } from '../../src/contract/device-description.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { formsOf } from '../../src/contract/iccid.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { ProvingState } from '../../src/contract/key-values.ts';
import { Refusal } from '../base/decision.ts';
import { claimedProof } from '../devices/claims.ts';
import { use } from '../devices/decisions.ts';
import { shownProof } from '../devices/proof.ts';
import type { DeviceIdentity } from '../devices/records.ts';
import { retrying } from '../requests/context.ts';
import type { Store } from '../store/store.ts';

/**
 * A key as the interface shows it. `device` is undefined if its serial number is unknown or not registered: then the proof is what the
 * key claims.
 */
export function presentKey(
  key: AttachedKey,
  device: DeviceIdentity | undefined,
  proving: ProvingState | null = null,
): Key {
  return {
    keyId: key.keyId,
    deviceType: key.deviceType,
    serialNumber: key.serialNumber,
    serialSource: key.serialSource,
    ...descriptionOf(key),
    transport: key.transport,
    reader: key.reader,
    vendorId: key.vendorId,
    productId: key.productId,
    attachedAt: new Date(key.attachedAt).toISOString(),
    simulated: key.simulated,
    problem: key.problem,
    claims: key.claims,
    proving,
    proof: shownProof(device?.proof ?? null) ?? claimedProof(key.claims, describedOf(key)),
    device: device ? { deviceId: deviceIds.format(device.number), status: device.status } : null,
  };
}

const describedOf = ({ manufacturer, model }: AttachedKey): string => [manufacturer, model].filter(Boolean).join(' ');

/** Finds the devices of attached keys, by serial number; a SIM card also with the filler that some lists keep. */
export async function registeredDevices(
  store: Pick<Store, 'devicesBySerial'>,
  serials: readonly string[],
): Promise<(serial: string) => DeviceIdentity | undefined> {
  const devices = await store.devicesBySerial(serials.flatMap(formsOf));
  return serial =>
    formsOf(serial)
      .map(form => devices.get(form))
      .find(device => device !== undefined);
}

/** Dependencies of `recordUse`. */
export interface UseOptions {
  readonly store: Pick<Store, 'device' | 'devicesBySerial' | 'commit'>;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Records that a key was attached for `milliseconds`: one use of its device, in whole seconds since the later of attachment
 * and activation. Does nothing unless the device is registered and ACTIVE. A simulated key counts like a real one: a device
 * with its serial number was registered to try exactly this.
 */
export async function recordUse({ store, now }: UseOptions, serialNumber: string, milliseconds: number): Promise<void> {
  const registered = (await registeredDevices(store, [serialNumber]))(serialNumber);
  if (registered?.status !== 'ACTIVE') return;
  await retrying(async () => {
    const device = await store.device(registered.number);
    if (!device) return;
    const at = now();
    const active = device.activatedAt === null ? milliseconds : Math.max(0, at - device.activatedAt);
    const used = use(device, Math.floor(Math.min(milliseconds, active) / 1000));
    if (used instanceof Refusal) return;
    await store.commit({ at, actor: null, requestId: null, changes: [used.change], guards: used.guards });
  });
}
