import type { QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import { paging } from '../../../contract/limits.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { Client } from '../../client/client.ts';

type Query = Partial<QueryOf<Routes['listDevices']>>;

export interface DevicePage {
  readonly list: readonly DeviceListItem[];
  readonly total: number;
}

/**
 * Every device that matches, page by page. What is registered meanwhile pushes devices of the default order onto the
 * next page: those that were on the last one are not given again.
 */
export async function* allDevices(
  client: Client,
  query: Query,
  size: number = paging.maxSize,
): AsyncGenerator<DevicePage> {
  let before: ReadonlySet<string> = new Set();
  for (let page = 1; ; page++) {
    const { list, pagination } = await client.call('listDevices', { query: { ...query, page, size } });
    yield { list: list.filter(device => !before.has(device.deviceId)), total: pagination.total };
    if (page >= pagination.totalPages || list.length === 0) return;
    before = new Set(list.map(device => device.deviceId));
  }
}
