/** Preview of a command for many devices. Changes nothing. */
import type { DeviceListItem } from '../../../../contract/devices.ts';
import type { BatchOperation, DeviceStatus } from '../../../../contract/values.ts';
import { count } from '../../../count.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { inGroups } from '../../../jobs/job-run.ts';
import type { BulkFlags } from './flags.ts';
import { devices, fittingStates, operations } from './operations.ts';
import { type BulkResult, invalidResult, writerOf } from './results.ts';
import { filterOfPairs } from './selection.ts';
import { foundItems, type Item, itemsNamed, namedInFile } from './source.ts';

type PlannedDevice = Pick<DeviceListItem, 'deviceId' | 'serialNumber' | 'status'>;

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
  for await (const results of inGroups(planOf(context, operation, names, flags), resultsPerWrite)) {
    const refusals = results.filter(({ status }) => status !== 'planned').length;
    refused += refusals;
    planned += results.length - refusals;
    await writer.write(results);
  }
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
  flags: BulkFlags,
): AsyncGenerator<BulkResult> {
  const { file, filter } = flags;
  if (filter.length > 0) {
    for await (const device of exportedDevices(context, filterOfPairs(filter)))
      yield planned(operation, { target: {}, fields: {}, problem: null }, device);
    return;
  }
  const items = file === undefined ? await itemsNamed(context, names) : await namedInFile(context, file, flags);
  for (const { item, device, problem } of await foundItems(context, items))
    yield device === null ? invalidResult(operation, item, problem!) : planned(operation, item, device);
}

function planned(operation: BatchOperation, { target }: Item, device: PlannedDevice): BulkResult {
  const { deviceId, serialNumber, status } = device;
  const { done } = operations[operation];
  const base = { ...target, deviceId, serialNumber, operation };
  return fittingStates[operation].includes(status as DeviceStatus)
    ? { ...base, status: 'planned', message: `would be ${done}` }
    : { ...base, status: 'failed', message: `would be refused: it is ${status}` };
}
