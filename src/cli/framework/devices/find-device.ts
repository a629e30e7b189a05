import type { DeviceListItem } from '../../../contract/devices.ts';
import { paging } from '../../../contract/limits.ts';
import type { Client } from '../../client/client.ts';
import { pagesOf } from '../../client/pages.ts';

/** The device with exactly this serial number, and one whose serial number differs only in case. */
export async function findBySerial(
  registry: Client,
  serial: string,
): Promise<{ readonly exact: DeviceListItem | null; readonly similar: DeviceListItem | null }> {
  let similar: DeviceListItem | null = null;
  const query = { keyword: serial, size: paging.maxSize, sortBy: 'serialNumber', sortOrder: 'asc' } as const;
  const read = (page: number) => registry.call('listDevices', { query: { ...query, page } });
  for await (const { list } of pagesOf(read, device => device.deviceId)) {
    for (const device of list) {
      if (device.serialNumber === serial) return { exact: device, similar };
      if (device.serialNumber.toLowerCase() === serial.toLowerCase()) similar = device;
    }
  }
  return { exact: null, similar };
}
