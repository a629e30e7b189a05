/** What a command for many devices would do with each of them. Changes nothing. */
import type { DeviceListItem } from '../../../../contract/devices.ts';
import type { BatchOperation, DeviceStatus } from '../../../../contract/values.ts';
import { count } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { deviceNamed, mostRequests } from '../../../framework/devices/find-device.ts';
import { encodingOf } from '../../../jobs/encoding.ts';
import type { BulkFlags } from './flags.ts';
import { devices, operations } from './operations.ts';
import { type BulkResult, invalidResult, namesOf, writerOf } from './results.ts';
import { filterOfPairs } from './selection.ts';
import { absent, type Item, itemsOfFile, targetOf } from './source.ts';

type Known = Pick<DeviceListItem, 'deviceId' | 'serialNumber' | 'status'>;

/** Results that are written at once. */
const resultsPerWrite = 1_000;

/** One result for each device, and their number in each state. The exit code: 7 if some would be refused. */
export async function planChange(
  context: Context,
  operation: BatchOperation,
  names: readonly string[],
  flags: BulkFlags,
): Promise<number> {
  const writer = writerOf(context, false);
  let [planned, refused] = [0, 0];
  let waiting: BulkResult[] = [];
  for await (const result of planOf(context, operation, names, flags)) {
    if (result.status === 'planned') planned++;
    else refused++;
    if (waiting.push(result) < resultsPerWrite) continue;
    await writer.write(waiting);
    waiting = [];
  }
  await writer.write(waiting);
  const { done } = operations[operation];
  notify(
    context,
    `Dry run: ${devices(planned)} would be ${done}, ${count(refused)} would be refused. Nothing was changed.`,
  );
  return refused > 0 ? exitCodes.partial : exitCodes.done;
}

async function* planOf(
  context: Context,
  operation: BatchOperation,
  names: readonly string[],
  { file, filter, encoding }: BulkFlags,
): AsyncGenerator<BulkResult> {
  if (filter.length > 0) {
    for await (const device of exportedDevices(context, filterOfPairs(filter)))
      yield planned(operation, { target: {}, fields: {}, problem: null }, device);
    return;
  }
  const items: Item[] = names.map(name => ({ target: targetOf(name.trim()), fields: {}, problem: null }));
  if (file !== undefined) {
    const source = {
      file,
      stdin: context.io.stdin,
      encoding: encodingOf(encoding),
      operation: null,
      userId: undefined,
    };
    for await (const item of itemsOfFile({ ...source, notice: text => notify(context, text) })) items.push(item);
  }
  const known = await knownDevices(context, items);
  for (const item of items) {
    const found = item.problem === null ? known(item) : null;
    if (found === null) yield invalidResult(operation, item, item.problem ?? absent!);
    else yield planned(operation, item, found);
  }
}

/** Finds the devices of the items: one by one if they are few, else with one request. */
async function knownDevices(context: Context, items: readonly Item[]): Promise<(item: Item) => Known | null> {
  const found = new Map<string, Known>();
  const add = (device: Known) => namesOf(device).forEach(name => void found.set(name, device));
  if (items.length <= mostRequests) {
    for (const { target, problem } of items) {
      const device = problem === null ? await deviceNamed(context.registry, target) : null;
      if (device !== null) add(device);
    }
  } else {
    const wanted = new Set(items.flatMap(({ target }) => namesOf(target)));
    for await (const { deviceId, serialNumber, status } of exportedDevices(context, {}))
      if (namesOf({ deviceId, serialNumber }).some(name => wanted.has(name))) add({ deviceId, serialNumber, status });
  }
  return ({ target }) => {
    const [first = null, ...others] = namesOf(target).map(name => found.get(name) ?? null);
    return others.every(other => other?.deviceId === first?.deviceId) ? first : null;
  };
}

function planned(operation: BatchOperation, { target }: Item, device: Known): BulkResult {
  const { deviceId, serialNumber, status } = device;
  const { fits, done } = operations[operation];
  const base = { ...target, deviceId, serialNumber, operation };
  return fits.includes(status as DeviceStatus)
    ? { ...base, status: 'planned', message: `would be ${done}` }
    : { ...base, status: 'failed', message: `would be refused: it is ${status}` };
}
