/** All pages of a list: requested ahead, used in order, complete even if devices are registered at the same time. */
import { expect, test } from 'vitest';
import { allDevices } from '../../src/cli/framework/devices/all-devices.ts';
import { answering, json, success } from '../support/http-servers.ts';
import { quietClient } from '../support/stream-server.ts';

const never = new AbortController().signal;

interface Registry {
  /** Number of devices; the newest comes first. */
  count: number;
  /** Called before a page is read. */
  before?: (page: number) => Promise<void> | void;
  /** A page that is refused. */
  refused?: number;
}

/** A registry that lists devices, newest first, with the pages that were requested. */
async function listing(registry: Registry) {
  const requested: number[] = [];
  const server = await answering(async (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://x');
    const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('size'))];
    requested.push(page);
    await registry.before?.(page);
    if (page === registry.refused) return void response.end(JSON.stringify({ code: 500, message: 'no', data: null }));
    const { count } = registry;
    const first = count - (page - 1) * size;
    const list = Array.from({ length: Math.max(0, Math.min(size, first)) }, (_, n) => ({
      deviceId: `DEV-${first - n}`,
      serialNumber: `S-${first - n}`,
    }));
    const pagination = { page, size, total: count, totalPages: Math.ceil(count / size) };
    response.writeHead(200, json).end(success({ list, pagination }));
  });
  return { ...server, requested };
}

async function idsOf(url: string, size: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { list } of allDevices(quietClient(url, 'token', never), {}, size))
    ids.push(...list.map(({ deviceId }) => deviceId));
  return ids;
}

const newestFirst = (count: number) => Array.from({ length: count }, (_, n) => `DEV-${count - n}`);

test('every device is listed once, in order, however late a page comes', async () => {
  // The second page is answered after the third: it is still used before it.
  const third = Promise.withResolvers<void>();
  const before = (page: number) => (page === 2 ? third.promise : page === 3 ? third.resolve() : undefined);
  const { url, requested } = await listing({ count: 95, before });
  expect(await idsOf(url, 10)).toEqual(newestFirst(95));
  expect([...requested].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a list of one page is one request', async () => {
  const { url, requested } = await listing({ count: 7 });
  expect(await idsOf(url, 10)).toEqual(newestFirst(7));
  expect(requested).toEqual([1]);
});

test('an empty list has one page without devices', async () => {
  const { url, requested } = await listing({ count: 0 });
  expect(await idsOf(url, 10)).toEqual([]);
  expect(requested).toEqual([1]);
});

test('devices that are registered at the same time cause neither a gap nor a repeat', async () => {
  const registry: Registry = { count: 60 };
  const later = Promise.withResolvers<void>();
  let others = 0;
  // Pages 2 to 5 are requested at once. Page 2 is read last, after a device has moved all others by one place.
  registry.before = async page => {
    if (page > 2 && ++others === 3) later.resolve();
    if (page !== 2) return;
    await later.promise;
    registry.count = 61;
  };
  const { url } = await listing(registry);
  expect(await idsOf(url, 10)).toEqual(newestFirst(60));
});

test('a refused page is reported in its turn, after the pages before it', async () => {
  const { url } = await listing({ count: 50, refused: 4 });
  const seen: number[] = [];
  const all = async () => {
    for await (const { list } of allDevices(quietClient(url, 'token', never), {}, 10)) seen.push(list.length);
  };
  await expect(all()).rejects.toMatchObject({ code: 500 });
  expect(seen).toEqual([10, 10, 10]);
});
