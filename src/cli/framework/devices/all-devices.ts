import type { DataOf, QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import { paging } from '../../../contract/limits.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { Client } from '../../client/client.ts';
import { PageFollower } from '../../client/pages.ts';
import type { Context } from '../context.ts';
import { exportedDevices } from './export-stream.ts';

type Query = Partial<QueryOf<Routes['listDevices']>>;
type PageOfDevices = DataOf<Routes['listDevices']>;

/** Devices of one page. */
interface DevicePage {
  readonly list: readonly DeviceListItem[];
  /** Number of all matches; null if it is not known yet. */
  readonly total: number | null;
}

/** Orders by which devices are exported: ids ascend with the time of the registration. */
const exportedBy: ReadonlySet<Query['sortBy']> = new Set([undefined, 'createTime', 'createdAt', 'deviceId']);

/**
 * All devices that match, in parts of `size`: those of one export, whose number of requests does not grow with the registry; in
 * another order, page by page.
 */
export async function* everyDevice(
  context: Context,
  query: Query,
  size: number = paging.maxSize,
): AsyncGenerator<DevicePage> {
  const { sortBy, sortOrder = 'desc', ...filter } = query;
  if (!exportedBy.has(sortBy)) return yield* allDevices(context.registry, query, size);
  let list: DeviceListItem[] = [];
  for await (const device of exportedDevices(context, { ...filter, sortOrder }, null)) {
    if (list.push(device) < size) continue;
    yield { list, total: null };
    list = [];
  }
  yield { list, total: null };
}

/** Pages that are requested before their turn. */
const pagesAhead = 3;

/**
 * All devices that match, page by page; the next pages are requested while one is used. A device that is registered during that
 * moves others of the default order to the next page: those are not repeated, and pages from before the move are requested again.
 * A fault of kind `failure` if the server repeats pages.
 */
export async function* allDevices(
  registry: Client,
  query: Query,
  size: number = paging.maxSize,
): AsyncGenerator<DevicePage> {
  let share = 0;
  const client = registry.with({ share: () => share });
  const first = await client.call('listDevices', { query: { ...query, page: 1, size } });
  const follower = new PageFollower<DeviceListItem>(device => device.deviceId);
  yield { list: follower.take(first), total: first.pagination.total };
  const pages = new PagesAhead(client, { ...query, size });
  for (let page = follower.next, before = first; page !== null; page = follower.next) {
    share = (page - 1) / before.pagination.totalPages;
    before = await pages.take(page, before.pagination);
    yield { list: follower.take(before), total: before.pagination.total };
  }
}

class PagesAhead {
  readonly #client: Client;
  readonly #query: Query;
  readonly #requested = new Map<number, Promise<PageOfDevices>>();

  constructor(client: Client, query: Query) {
    this.#client = client;
    this.#query = query;
  }

  /** A page, after the one before it with this pagination. Requests further pages. */
  async take(page: number, { total, totalPages }: PageOfDevices['pagination']): Promise<PageOfDevices> {
    for (let next = page; next <= Math.min(page + pagesAhead, totalPages); next++) this.#request(next);
    const found = await this.#requested.get(page)!;
    this.#requested.delete(page);
    // The page may be older than the one before it, and lack what has moved since.
    if (found.pagination.total === total) return found;
    this.#requested.clear();
    return this.#client.call('listDevices', { query: { ...this.#query, page } });
  }

  #request(page: number): void {
    if (this.#requested.has(page)) return;
    const request = this.#client.call('listDevices', { query: { ...this.#query, page } });
    // Its failure is reported when its turn comes.
    request.catch(() => undefined);
    this.#requested.set(page, request);
  }
}
