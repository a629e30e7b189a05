/**
 * Rows whose serial number is already registered. With `--skip-existing` such a row is done if the device is the one that the row
 * describes. A device of another type, manufacturer or model is a difference: the row fails, because registering cannot change it.
 */
import type { DeviceListItem, Registration } from '../../../contract/devices.ts';
import type { Client } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { exportedDevices } from '../devices/export-stream.ts';
import { findBySerial } from '../devices/find-device.ts';
import { duplicated, namedDevice, numberOf } from './batch.ts';
import type { LineResult } from './results.ts';
import type { Row } from './row.ts';

/** What is known of a device that has the serial number of a row. */
export type Existing = Pick<DeviceListItem, 'deviceId' | 'status' | 'deviceType' | 'manufacturer' | 'model'>;

const compared = [
  ['deviceType', 'type'],
  ['manufacturer', 'manufacturer'],
  ['model', 'model'],
] as const satisfies readonly (readonly [keyof Existing & keyof Registration, string])[];

type Compared = Pick<Registration, (typeof compared)[number][0]>;

/** The fields in which a row differs from a device, or from an earlier row with the same serial number. */
export const differencesOf = (device: Compared, other: Compared) =>
  compared.filter(([field]) => device[field] !== other[field]);

/** `already exists: DEV-1 (ACTIVE)`. */
export const existsWords = ({ deviceId, status }: Pick<Existing, 'deviceId' | 'status'>): string =>
  `already exists: ${deviceId} (${status})`;

/** The result of a row whose device exists: `registered`, or a failure with status `differing` that names the differences. */
export function existingResult(
  { position, serialNumber }: Row,
  device: Registration,
  existing: Existing,
  differing: { readonly status: 'failed'; readonly code: number } | { readonly status: 'invalid' },
): LineResult {
  const differences = differencesOf(device, existing);
  const known = { ...position, serialNumber, deviceId: existing.deviceId };
  if (differences.length === 0) return { ...known, status: 'registered', message: existsWords(existing) };
  const words = differences.map(([field, name]) => `${name} is ${existing[field]}, not ${device[field]}`);
  const message = `${existsWords(existing)} and differs: ${words.join('; ')}`;
  return { ...known, ...differing, field: differences[0]![0], message };
}

/** The results, in which rows that failed because their device exists are compared with it. */
export async function withExisting(
  context: Context,
  rows: readonly Row[],
  results: readonly LineResult[],
): Promise<LineResult[]> {
  const found = await existingDevices(
    context,
    results.filter(({ code }) => code === duplicated),
  );
  return results.map((result, index) => {
    const [row, existing] = [rows[index]!, found.get(result.serialNumber ?? '')];
    if (result.code !== duplicated || existing === undefined || !('device' in row)) return result;
    return existingResult(row, row.device, existing, { status: 'failed', code: duplicated });
  });
}

/** Up to this many devices are fetched one by one; for more, one export covers the time in which they were registered. */
const maxLookups = 10;

/** The devices of the results, by serial number. */
async function existingDevices(
  context: Context,
  results: readonly LineResult[],
): Promise<ReadonlyMap<string, Existing>> {
  const serials = new Set(results.map(({ serialNumber }) => serialNumber ?? ''));
  const found = new Map<string, Existing>();
  // The batch is done: its results must be written even after Ctrl-C.
  const registry = context.registry.uninterruptible();
  if (serials.size > maxLookups) {
    const ids = results.map(({ message }) => namedDevice(message)).filter(id => id !== null);
    for await (const device of registeredBetween(context, registry, ids))
      if (serials.has(device.serialNumber)) found.set(device.serialNumber, device);
  }
  for (const serial of serials) {
    if (found.has(serial)) continue;
    const { exact } = await findBySerial(registry, serial);
    if (exact !== null) found.set(serial, exact);
  }
  return found;
}

/** The devices from the oldest to the newest of `ids`: two requests for their times, one for the devices. */
async function* registeredBetween(
  context: Context,
  registry: Client,
  ids: readonly string[],
): AsyncGenerator<DeviceListItem> {
  if (ids.length === 0) return;
  const sorted = ids.toSorted((one, other) => numberOf(one) - numberOf(other));
  const [first, last] = await Promise.all(
    [sorted[0]!, sorted.at(-1)!].map(deviceId => registry.call('deviceDetail', { params: { deviceId } })),
  );
  const [from, to] = [Date.parse(first!.createdAt), Date.parse(last!.createdAt)];
  if (Number.isNaN(from) || Number.isNaN(to)) return;
  yield* exportedDevices({ ...context, registry }, { createdFrom: new Date(from), createdTo: new Date(to + 1) });
}
