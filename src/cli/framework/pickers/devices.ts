/** Pick devices at the terminal: the ones that a command works on, searched for by deviceId, serial number or user. */
import type { DeviceListItem } from '../../../contract/devices.ts';
import { textLengths } from '../../../contract/limits.ts';
import { type DeviceStatus, deviceStatuses } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { Fault } from '../../fault.ts';
import type { Choice } from '../../terminal/prompt.ts';
import { type SearchMatches, searchMany, searchOne } from '../../terminal/search-prompts.ts';
import type { Context } from '../context.ts';
import { aligned } from './aligned.ts';
import { type SearchLookup, ServerSearch } from './server-search.ts';

/** Devices that a list offers: as many as can be looked through; typing on finds the others. */
const offered = 50;

/** The deviceId of one device in one of these states. Throws a fault of kind `device` if there is none. */
export async function pickDevice(context: Context, fits: readonly DeviceStatus[] = deviceStatuses): Promise<string> {
  const search = await searchFor(context, fits);
  return searchOne(context.out, 'Device (part of its id or serial, or its user)', search.find);
}

/** The deviceIds of at least one device in these states. Throws a fault of kind `device` if there is none. */
export async function pickDevices(context: Context, fits: readonly DeviceStatus[]): Promise<readonly string[]> {
  const search = await searchFor(context, fits);
  return searchMany(context.out, 'Devices (part of id or serial, or user)', search.find);
}

async function searchFor({ registry }: Context, fits: readonly DeviceStatus[]): Promise<ServerSearch<string>> {
  const search = new ServerSearch(registry, lookupOf(fits));
  const { choices } = await search.first();
  if (choices.length > 0) return search;
  const all = fits.length === deviceStatuses.length;
  throw new Fault(
    'device',
    all ? 'no device is registered' : `no device is ${fits.join(' or ')}`,
    all ? 'register one: devmgr register' : 'see all devices: devmgr list',
  );
}

const lookupOf =
  (fits: readonly DeviceStatus[]): SearchLookup<string> =>
  async (typed, client) => {
    // No id, serial number or user is longer.
    if (typed.length > textLengths.userId) return { choices: [], more: 0 };
    const byPart = await page(client, fits, typed === '' ? {} : { keyword: typed });
    const ofUser =
      typed === '' || byPart.list.length >= offered ? nothing : await page(client, fits, { userId: typed });
    const known = new Set(byPart.list.map(({ deviceId }) => deviceId));
    const devices = [...byPart.list, ...ofUser.list.filter(({ deviceId }) => !known.has(deviceId))];
    return { choices: choicesOf(devices, fits.length > 1), more: byPart.more + ofUser.more };
  };

interface PickerPage {
  readonly list: readonly DeviceListItem[];
  /** Matches on other pages. */
  readonly more: number;
}

const nothing: PickerPage = { list: [], more: 0 };

async function page(
  client: Client,
  fits: readonly DeviceStatus[],
  filter: { readonly keyword?: string; readonly userId?: string },
): Promise<PickerPage> {
  const status = fits.length === deviceStatuses.length ? {} : { status: [...fits] };
  const { list, pagination } = await client.call('listDevices', { query: { size: offered, ...status, ...filter } });
  return { list, more: Math.max(0, pagination.total - list.length) };
}

function choicesOf(devices: readonly DeviceListItem[], withStatus: boolean): SearchMatches<string>['choices'] {
  const names = aligned(
    devices.map(({ deviceId, serialNumber, userId, status, deviceType }) => [
      deviceId,
      serialNumber,
      ...(withStatus ? [status] : []),
      userId ?? '-',
      deviceType,
    ]),
  );
  return devices.map(
    (device, index): Choice<string> => ({
      value: device.deviceId,
      name: names[index]!,
      short: device.deviceId,
      description: descriptionOf(device),
    }),
  );
}

function descriptionOf({ deviceType, manufacturer, model, status, userId }: DeviceListItem): string {
  const bound = userId === null ? '' : `, bound to ${userId}`;
  return `${deviceType} ${manufacturer} ${model}, ${status}${bound}`;
}
