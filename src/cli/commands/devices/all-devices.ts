import type { QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import { paging } from '../../../contract/limits.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { Client } from '../../client/client.ts';

type Query = Partial<QueryOf<Routes['listDevices']>>;

/** A page of devices; `total` counts all that match. */
export interface DevicePage {
  readonly list: readonly DeviceListItem[];
  readonly total: number;
}

/**
 * Every device that matches, page by page. A device that is registered meanwhile can move others to the next page:
 * devices of the previous page are not yielded again.
 */
export async function* allDevices(
  client: Client,
  query: Query,
  size: number = paging.maxSize,
): AsyncGenerator<DevicePage> {
  let previous: ReadonlySet<string> = new Set();
  for (let page = 1; ; page++) {
    const { list, pagination } = await client.call('listDevices', { query: { ...query, page, size } });
    yield { list: list.filter(device => !previous.has(device.deviceId)), total: pagination.total };
    if (page >= pagination.totalPages || list.length === 0) return;
    previous = new Set(list.map(device => device.deviceId));
  }
}
