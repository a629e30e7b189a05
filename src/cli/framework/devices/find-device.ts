import { Code } from '../../../contract/codes.ts';
import type { DeviceDetail } from '../../../contract/device-shapes.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import type { Context } from '../../framework/context.ts';
import { type ExportFilter, exportedDevices } from './export-stream.ts';

/** The device with exactly this serial number, and one whose serial number differs only in case. */
export async function findBySerial(
  registry: Client,
  serial: string,
): Promise<{ readonly exact: DeviceListItem | null; readonly similar: DeviceListItem | null }> {
  let similar: DeviceListItem | null = null;
  const query = { keyword: serial, sortBy: 'serialNumber', sortOrder: 'asc' } as const;
  for await (const device of itemsOf(registry, 'listDevices', { query })) {
    if (device.serialNumber === serial) return { exact: device, similar };
    if (device.serialNumber.toLowerCase() === serial.toLowerCase()) similar = device;
  }
  return { exact: null, similar };
}

/** More devices than this are read with one export: the rate limit counts each request. */
export const mostRequests = 20;

/** The devices that have one of the serial numbers. `among`: a filter for the export that most of them match; null fetches all one by one. */
export async function devicesBySerial(
  context: Context,
  serials: ReadonlySet<string>,
  among: ExportFilter | null = {},
): Promise<ReadonlyMap<string, DeviceListItem>> {
  const found = new Map<string, DeviceListItem>();
  if (serials.size > mostRequests && among !== null) {
    for await (const device of exportedDevices(context, among))
      if (serials.has(device.serialNumber)) found.set(device.serialNumber, device);
    if (Object.keys(among).length === 0) return found;
  }
  for (const serial of serials) {
    if (found.has(serial)) continue;
    const { exact } = await findBySerial(context.registry, serial);
    if (exact !== null) found.set(serial, exact);
  }
  return found;
}

/** What names a device: one of the two, or both. */
interface DeviceNames {
  readonly deviceId?: string;
  readonly serialNumber?: string;
}

/** The device; null if there is none with these names. A text that looks like a deviceId can also be a serial number. */
async function deviceNamed(
  registry: Client,
  { deviceId, serialNumber }: DeviceNames,
): Promise<DeviceListItem | DeviceDetail | null> {
  if (deviceId !== undefined) {
    const device = await nullIfRefused(registry.call('getDevice', { params: { deviceId } }), Code.deviceNotFound);
    if (device !== null) return agreed(device, serialNumber);
    if (serialNumber !== undefined) return null;
  }
  return (await findBySerial(registry, serialNumber ?? deviceId!)).exact;
}

/** Null if a device is named with the serial number of another one. */
const agreed = <D extends { readonly serialNumber: string }>(device: D, serialNumber?: string): D | null =>
  serialNumber === undefined || device.serialNumber === serialNumber ? device : null;

type DeviceSearch = (names: DeviceNames) => Promise<DeviceListItem | DeviceDetail | null>;

/** Finds each of these devices: by a request for each or, if they are many, in one export. */
export async function deviceSearch(context: Context, all: readonly DeviceNames[]): Promise<DeviceSearch> {
  if (all.length <= mostRequests) return names => deviceNamed(context.registry, names);
  const wanted = new Set(all.flatMap(({ deviceId, serialNumber }) => [deviceId, serialNumber]));
  const byId = new Map<string, DeviceListItem>();
  const bySerial = new Map<string, DeviceListItem>();
  for await (const device of exportedDevices(context, {})) {
    if (!wanted.has(device.deviceId) && !wanted.has(device.serialNumber)) continue;
    byId.set(device.deviceId, device);
    bySerial.set(device.serialNumber, device);
  }
  return async ({ deviceId, serialNumber }) => {
    if (deviceId === undefined) return bySerial.get(serialNumber!) ?? null;
    const device = byId.get(deviceId) ?? (serialNumber === undefined ? bySerial.get(deviceId) : undefined);
    return device === undefined ? null : agreed(device, serialNumber);
  };
}
