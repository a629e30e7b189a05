import type { DeviceListItem } from '../../../contract/devices.ts';
import { paging } from '../../../contract/limits.ts';
import type { Client } from '../../client/client.ts';

/** The device with exactly this serial number, and one whose serial number differs only in case. */
export async function findBySerial(
  registry: Client,
  serial: string,
): Promise<{ readonly exact: DeviceListItem | null; readonly similar: DeviceListItem | null }> {
  let similar: DeviceListItem | null = null;
  for (let page = 1; ; page++) {
    const { list, pagination } = await registry.call('listDevices', {
      query: { keyword: serial, page, size: paging.maxSize, sortBy: 'serialNumber', sortOrder: 'asc' },
    });
    for (const device of list) {
      if (device.serialNumber === serial) return { exact: device, similar };
      if (device.serialNumber.toLowerCase() === serial.toLowerCase()) similar = device;
    }
    if (page >= pagination.totalPages || list.length === 0) return { exact: null, similar };
  }
}
