/** The devices whose labels a command prints. */
import { Fault, usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { findDevice } from '../../../framework/hints.ts';
import { personsOf } from '../../../framework/persons.ts';
import { nameOf } from '../../../jobs/input-file.ts';
import type { TableFlags } from '../../../jobs/table-flags.ts';
import { filterOfPairs } from '../../many/bulk/selection.ts';
import { foundItems, type Item, itemsNamed, namedInFile, type Target } from '../../many/bulk/source.ts';
import type { LabelDevice } from './placeholders.ts';

/** How devices are named: by exactly one of the three, or by a file of which `names` are wanted. */
export interface DeviceChoice {
  readonly names: readonly string[];
  readonly filter: readonly string[];
  readonly file: string | undefined;
  /** How the file is read. */
  readonly reading: TableFlags;
}

/** A device, or why its label cannot be printed. */
export interface FoundLabelDevice {
  /** As it was named. */
  readonly target: Target;
  readonly device: LabelDevice | null;
  /** Null if there is a device. */
  readonly problem: Item['problem'];
}

/** The devices in their order, and how many lines of the file name a key that was not registered. */
interface FoundDevices {
  readonly devices: readonly FoundLabelDevice[];
  readonly unregistered: number;
}

/** The devices without those of `isDone`. Throws a fault if the one device that is named does not exist. */
export async function findDevices(
  context: Context,
  { names, filter, file, reading }: DeviceChoice,
  isDone: (target: Target) => boolean,
): Promise<FoundDevices> {
  if (filter.length > 0) return { devices: await matching(context, filter, isDone), unregistered: 0 };
  const all = await namedItems(context, { names, file, reading });
  const items = all.filter(item => !item.unregistered);
  const devices = await lookedUp(
    context,
    items.filter(({ target }) => !isDone(target)),
  );
  if (names.length === 1 && devices[0]?.device === null)
    throw new Fault('device', `no device has the deviceId or serial number "${names[0]}"`, findDevice);
  return { devices: await named(context, devices), unregistered: all.length - items.length };
}

/** The devices with the names of their persons. A name of the file stays. */
async function named({ registry }: Context, found: readonly FoundLabelDevice[]): Promise<readonly FoundLabelDevice[]> {
  const persons = await personsOf(
    registry,
    found.map(({ device }) => (device?.name ? null : (device?.userId ?? null))),
  );
  return found.map(each => {
    const person = each.device && persons.get(each.device.userId ?? '');
    return person && !each.device.name ? { ...each, device: { ...each.device, name: person.name } } : each;
  });
}

async function matching(
  context: Context,
  filter: readonly string[],
  isDone: (target: Target) => boolean,
): Promise<readonly FoundLabelDevice[]> {
  const found: FoundLabelDevice[] = [];
  for await (const device of exportedDevices(context, { ...filterOfPairs(filter), names: true })) {
    const target = { deviceId: device.deviceId };
    if (!isDone(target)) found.push({ target, device, problem: null });
  }
  return found;
}

async function namedItems(context: Context, { names, file, reading }: Omit<DeviceChoice, 'filter'>): Promise<Item[]> {
  if (file === undefined) return itemsNamed(context, names);
  const items = await namedInFile(context, file, reading);
  return names.length === 0 ? items : names.map(name => rowOf(items, name.trim(), file));
}

/** The last row of the file for a device: a run can report a key more than once. Throws a usage fault if there is none. */
function rowOf(items: readonly Item[], name: string, file: string): Item {
  const isFor = ({ target, unregistered }: Item) =>
    !unregistered && (target.deviceId === name || target.serialNumber === name);
  const row = items.findLast(isFor);
  if (row === undefined)
    throw usage(`${nameOf(file)} has no row of the device "${name}"`, 'omit --file, or the device');
  return row;
}

async function lookedUp(context: Context, items: readonly Item[]): Promise<readonly FoundLabelDevice[]> {
  const found = await foundItems(context, items);
  return found.map(({ item, device, problem }) => ({
    target: item.target,
    device: device && { ...device, ...item.fields },
    problem,
  }));
}
