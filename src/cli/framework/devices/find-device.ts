import { Code } from '../../../contract/codes.ts';
import type { DeviceDetail } from '../../../contract/device-shapes.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import { cardNumber, formsOf } from '../../../contract/iccid.ts';
import { deviceIds } from '../../../contract/ids.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { type Fault, usage } from '../../fault.ts';
import type { Context } from '../context.ts';
import { type ExportFilter, exportedDevices } from './export-stream.ts';

/** The device with this serial number, else this card with or without its filler, and one that differs only in case. */
export async function findBySerial(
  registry: Client,
  serial: string,
): Promise<{ readonly exact: DeviceListItem | null; readonly similar: DeviceListItem | null }> {
  let similar: DeviceListItem | null = null;
  let card: DeviceListItem | null = null;
  const forms = formsOf(serial);
  const query = { keyword: cardNumber(serial), sortBy: 'serialNumber', sortOrder: 'asc' } as const;
  for await (const device of itemsOf(registry, 'listDevices', { query })) {
    if (device.serialNumber === serial) return { exact: device, similar };
    if (forms.includes(device.serialNumber)) card = device;
    else if (device.serialNumber.toLowerCase() === serial.toLowerCase()) similar = device;
  }
  return { exact: card, similar };
}

/** More devices than this are read with one export: the rate limit counts each request. */
export const mostRequests = 20;

/**
 * The devices that have one of the serial numbers, for a card also with or without its filler. `among`: a filter for the export
 * that most of them match; null fetches all one by one.
 */
export async function devicesBySerial(
  context: Context,
  serials: ReadonlySet<string>,
  among: ExportFilter | null = {},
): Promise<ReadonlyMap<string, DeviceListItem>> {
  const found = new Map<string, DeviceListItem>();
  if (serials.size > mostRequests && among !== null) {
    const wanted = Map.groupBy(
      [...serials].flatMap(serial => formsOf(serial).map(form => ({ form, serial }))),
      ({ form }) => form,
    );
    for await (const device of exportedDevices(context, among))
      for (const { serial } of wanted.get(device.serialNumber) ?? [])
        if (serial === device.serialNumber || !found.has(serial)) found.set(serial, device);
    if (Object.keys(among).length === 0) return found;
  }
  for (const serial of serials) {
    if (found.has(serial)) continue;
    const { exact } = await findBySerial(context.registry, serial);
    if (exact !== null) found.set(serial, exact);
  }
  return found;
}

/** The registered form of the number of a card; any other serial number, and a card that is not registered, as it is. */
export async function registeredForms(context: Context): Promise<(serial: string) => string> {
  const cards = new Set<string>();
  for await (const { serialNumber } of exportedDevices(context, { deviceType: ['SIMKEY'] }, null))
    if (formsOf(serialNumber).length > 1) cards.add(serialNumber);
  return serial => formsOf(serial).find(form => cards.has(form)) ?? serial;
}

/** Names of a device: one of the two, or both. */
interface DeviceNames {
  readonly deviceId?: string;
  readonly serialNumber?: string;
}

const deviceWithId = (registry: Client, deviceId: string): Promise<DeviceDetail | null> =>
  nullIfRefused(registry.call('getDevice', { params: { deviceId } }), Code.deviceNotFound);

/**
 * Finds the devices that names mean. A registry can have serial numbers of the form of a deviceId, which earlier versions
 * registered: a name that is the deviceId of one device and the serial number of another one is refused. Used for one command.
 */
export class NamedDevices {
  readonly #context: Context;
  #requests = 0;
  /** Serial numbers of the form of a deviceId, with the deviceIds of their devices; null before the export that lists them. */
  #all: Promise<ReadonlyMap<string, string>> | null = null;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The name as a serial number or a deviceId; a usage fault if two devices have it. */
  async find(name: string): Promise<{ readonly deviceId: string } | { readonly serialNumber: string } | Fault> {
    if (deviceIds.parse(name) === null) return { serialNumber: name };
    const other = await this.#withSerial(name);
    if (other === null || other === name) return { deviceId: name };
    const device = await deviceWithId(this.#context.registry, name);
    if (device === null) return { deviceId: other };
    return usage(
      `"${name}" names two devices: ${name} (serial number ${device.serialNumber}), and ${other}, whose serial number is ${name}`,
      `name one of them: ${device.serialNumber}, or ${other}`,
    );
  }

  async #withSerial(serialNumber: string): Promise<string | null> {
    if (this.#all === null && this.#requests++ < mostRequests) {
      const query = { serialNumber, size: 1 };
      const { list } = await this.#context.registry.call('listDevices', { query });
      return list[0]?.deviceId ?? null;
    }
    this.#all ??= this.#idLike();
    return (await this.#all).get(serialNumber) ?? null;
  }

  async #idLike(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const { deviceId, serialNumber } of exportedDevices(this.#context, {}))
      if (deviceIds.parse(serialNumber) !== null) found.set(serialNumber, deviceId);
    return found;
  }
}

/** The device; null if there is none with these names. */
async function deviceNamed(
  registry: Client,
  { deviceId, serialNumber }: DeviceNames,
): Promise<DeviceListItem | DeviceDetail | null> {
  if (deviceId === undefined) return (await findBySerial(registry, serialNumber!)).exact;
  const device = await deviceWithId(registry, deviceId);
  return device && agreed(device, serialNumber);
}

/** Null if a device is named with the serial number of another one. */
const agreed = <D extends { readonly serialNumber: string }>(device: D, serialNumber?: string): D | null =>
  serialNumber === undefined || device.serialNumber === serialNumber ? device : null;

type Search = (names: DeviceNames) => Promise<DeviceListItem | DeviceDetail | null>;

/** Finds each of these devices: by a request for each or, if they are many, in one export. */
export async function deviceSearch(context: Context, all: readonly DeviceNames[]): Promise<Search> {
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
    const device = byId.get(deviceId);
    return device === undefined ? null : agreed(device, serialNumber);
  };
}
