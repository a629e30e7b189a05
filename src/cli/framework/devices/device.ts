/** Finds the device that a command is about: by deviceId, by serial number, or by the attached key. */

import type { DeviceListItem } from '../../../contract/devices.ts';
import type { Key } from '../../../contract/hardware.ts';
import type { DeviceStatus } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { Fault, usage } from '../../fault.ts';
import { safe } from '../../terminal/text.ts';
import type { Context } from '../context.ts';
import type { ArgShape } from '../flags.ts';
import { findDevice } from '../hints.ts';
import { findBySerial, NamedDevices } from './find-device.ts';
import { attachedKeyList, Registrations, registeredDevice } from './registration.ts';

/** The argument that names a device. It is optional because --plugged can name it instead. */
export const deviceArg: ArgShape = {
  name: 'DEVICE',
  help: 'deviceId or serial number (or use --plugged)',
  optional: true,
  offer: 'device',
};

/**
 * The deviceId of the device that is named, attached, or picked from a list at the terminal; `fits` limits that list to the
 * devices that the command works on. Throws a fault if no device or more than one is named.
 */
export async function resolveDevice(
  context: Context,
  name: string | undefined,
  plugged: boolean,
  fits?: readonly DeviceStatus[],
): Promise<string> {
  if (plugged) {
    if (name !== undefined) throw usage(`both "${name}" and --plugged name a device`, 'omit one of them');
    return pluggedDevice(context);
  }
  if (name === undefined) {
    if (!context.canAsk) throw usage('no device is named', 'name its deviceId or serial number, or use --plugged');
    const { pickDevice } = await import('../pickers/devices.ts');
    return pickDevice(context, fits);
  }
  const text = name.trim();
  const found = await new NamedDevices(context).find(text);
  if (found instanceof Fault) throw found;
  return 'deviceId' in found ? found.deviceId : (await requireBySerial(context.registry, text)).deviceId;
}

async function requireBySerial(registry: Client, serial: string): Promise<DeviceListItem> {
  const { exact, similar } = await findBySerial(registry, serial);
  if (exact) return exact;
  const hint = similar
    ? `did you mean ${similar.serialNumber} (${similar.deviceId})? Upper and lower case matter`
    : findDevice;
  throw new Fault('device', `no device has the deviceId or serial number "${serial}"`, hint);
}

async function pluggedDevice(context: Context): Promise<string> {
  const key = await onePluggedKey(context);
  if (key.serialNumber === null)
    throw new Fault('hardware', `the attached key has no readable serial number (${nameOf(key)})`, key.problem);
  const device = await registeredDevice(context, key);
  if (device) return device.deviceId;
  throw new Fault(
    'device',
    `the attached key (${key.serialNumber}) is not registered`,
    'register it: devmgr enroll --count 1',
  );
}

/** The only attached key. Throws a fault if none or several are attached. */
export async function onePluggedKey(context: Context): Promise<Key> {
  const { list, drivers } = await attachedKeyList(context);
  const [key, ...others] = list;
  if (!key) {
    const missing = drivers
      .filter(driver => driver.state !== 'ready')
      .map(driver => `${driver.name}: ${driver.detail}`);
    throw new Fault(
      'hardware',
      'no key is attached',
      missing.length ? missing.join('\n    ') : 'plug in a key and try again',
    );
  }
  if (others.length === 0) return key;
  const registrations = new Registrations(context);
  const joined = await Promise.all(list.map(other => registrations.of(other)));
  const none = registrations.failure ? '(unknown)' : '(not registered)';
  const lines = joined.map(other => `  ${other.device?.deviceId ?? none}  ${nameOf(other)}`);
  throw usage(`${list.length} keys are attached:\n${lines.join('\n')}`, 'name one of them, or unplug the others');
}

/** A key in one line, safe for a terminal. */
export const nameOf = (key: Key): string => {
  const parts = [key.deviceType, key.serialNumber ?? 'no readable serial', key.manufacturer, key.model];
  return safe([...parts, key.simulated ? '(simulated)' : null].filter(Boolean).join('  '));
};
