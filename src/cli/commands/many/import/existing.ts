/**
 * Rows whose serial number is already registered. With `--skip-existing` such a row is done if the device is the one that the row
 * describes. A device of another type, manufacturer or model is a difference: the row fails, because registering cannot change it.
 * If a batch is sent again and its first response is not stored, the same comparison finds the devices that it has registered.
 */
import { Code } from '../../../../contract/codes.ts';
import { deviceIds } from '../../../../contract/ids.ts';
import { type ExistingDevice, existingResult, isOf } from '../../../../enrollment/import/plan.ts';
import { bindingOf, type LineResult } from '../../../../enrollment/import/result.ts';
import type { Row, SentRow } from '../../../../enrollment/import/row.ts';
import { differencesOf } from '../../../../enrollment/same-device.ts';
import type { Client } from '../../../client/client.ts';
import type { Context } from '../../../framework/context.ts';
import { devicesBySerial, mostRequests } from '../../../framework/devices/find-device.ts';

/** Business code of a serial number that is already registered. */
export const duplicated = Code.serialDuplicated;

/** The results, in which rows that failed because their device exists are compared with it. */
export const withExisting = (
  context: Context,
  rows: readonly Row[],
  results: readonly LineResult[],
): Promise<LineResult[]> =>
  comparedWithDevices(context, rows, results, (row, existing) =>
    existingResult(row, row.device, existing, { status: 'failed', code: duplicated }),
  );

/**
 * The results of a batch that was sent before, without those of the first attempt. The device of a row is the one that has its
 * serial number, type, manufacturer and model: the row is a success, with the code that the device has as long as it is INACTIVE.
 * Of two rows with one serial number the second one fails, as it did then.
 */
export function withEarlierSuccesses(
  context: Context,
  rows: readonly Row[],
  results: readonly LineResult[],
): Promise<LineResult[]> {
  const taken = new Set<string>();
  return comparedWithDevices(context, rows, results, ({ position, serialNumber, device }, existing, result) => {
    const { deviceId, activationCode } = existing;
    if (differencesOf(device, existing).length > 0 || !isOf(device, existing) || taken.has(deviceId)) return result;
    taken.add(deviceId);
    const code = existing.status === 'INACTIVE' && activationCode ? { activationCode } : {};
    const shown = device.userId ? ({ deviceStatus: 'ACTIVE' } as const) : code;
    return { ...position, serialNumber, status: 'success', deviceId, ...bindingOf(device, shown), message: 'success' };
  });
}

async function comparedWithDevices(
  context: Context,
  rows: readonly Row[],
  results: readonly LineResult[],
  resultOf: (row: SentRow, existing: ExistingDevice, result: LineResult) => LineResult,
): Promise<LineResult[]> {
  const found = await existingDevices(context, results.filter(isDuplicate));
  return results.map((result, index) => {
    const [row, existing] = [rows[index]!, found.get(result.serialNumber ?? '')];
    if (!isDuplicate(result) || existing === undefined || !('device' in row)) return result;
    return resultOf(row, existing, result);
  });
}

/** Servers of earlier versions return no code. */
const isDuplicate = ({ status, code = duplicated }: LineResult): boolean => status === 'failed' && code === duplicated;

/** The device that the message of a duplicate names; null if none. The serial number before it may look like an id. */
const namedDevice = (message: string): string | null => message.match(/\bDEV-\d+\b/g)?.at(-1) ?? null;

/** The number in a deviceId; 0 if the text is not a deviceId. */
const numberOf = (deviceId: string): number => deviceIds.parse(deviceId) ?? 0;

/** The devices of the results, by serial number. */
async function existingDevices(
  context: Context,
  results: readonly LineResult[],
): Promise<ReadonlyMap<string, ExistingDevice>> {
  // The batch is done: its results must be written even after Ctrl-C.
  const registry = context.registry.with({ finish: true });
  const serials = new Set(results.map(({ serialNumber }) => serialNumber ?? ''));
  const ids = results.map(({ message }) => namedDevice(message)).filter(id => id !== null);
  const times = serials.size > mostRequests && ids.length > 0 ? await registeredBetween(registry, ids) : null;
  return devicesBySerial({ ...context, registry }, serials, times);
}

/** The filter for the time from the oldest to the newest of `ids`; null if that is not known. */
async function registeredBetween(
  registry: Client,
  ids: readonly string[],
): Promise<{ readonly createdFrom: Date; readonly createdTo: Date } | null> {
  const sorted = ids.toSorted((one, other) => numberOf(one) - numberOf(other));
  const [first, last] = await Promise.all(
    [sorted[0]!, sorted.at(-1)!].map(deviceId => registry.call('getDevice', { params: { deviceId } })),
  );
  const [from, to] = [Date.parse(first!.createdAt), Date.parse(last!.createdAt)];
  return Number.isNaN(from) || Number.isNaN(to) ? null : { createdFrom: new Date(from), createdTo: new Date(to + 1) };
}
