import { ApiError, Code, SUCCESS } from '../../src/contract/codes.ts';
import { batchItems } from '../../src/contract/device-batch.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { Data } from '../../src/contract/routes.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { BatchOperation } from '../../src/contract/values.ts';
import type { KeyedMutex } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import { batchResults } from '../requests/batch.ts';
import { type Context, commitLast, refused, retrying, type ServiceParts } from '../requests/context.ts';
import type { ChangeResult, Guard } from '../store/commit.ts';
import type { OwnerJudge, OwnerVerdict } from './judges.ts';
import { versionOf } from './lookups.ts';
import type { DeviceAction, deviceOperations } from './operations.ts';
import type { DeviceChange, DeviceRecord, DeviceSet } from './records.ts';

type BatchResult = Data<'batchUpdateDevices'>['results'][number];

/** An item as it was sent: which device it names, and the fields of the operation. */
interface Item {
  readonly deviceId?: string | undefined;
  readonly serialNumber?: string | undefined;
}

/** An item whose device was found, or why it failed. */
type Match = { readonly fields: Item; readonly number: number } | { readonly failure: BatchResult };

/** An item that is decided: what it returns once the batch is committed. */
type Decision = { readonly failure: BatchResult } | { readonly success: Success };
type Success = (committed: readonly ChangeResult[]) => BatchResult;

const readers = {
  ACTIVATE: compileReader(batchItems.ACTIVATE),
  LOCK: compileReader(batchItems.LOCK),
  UNLOCK: compileReader(batchItems.UNLOCK),
  DEACTIVATE: compileReader(batchItems.DEACTIVATE),
  GENERATE_CODE: compileReader(batchItems.GENERATE_CODE),
  UPDATE: compileReader(batchItems.UPDATE),
} as const satisfies Record<BatchOperation, unknown>;

/** Dependencies of batches. */
interface BatchParts extends ServiceParts {
  readonly owners?: OwnerJudge;
  /** Keeps other changes of the same devices waiting. */
  readonly changes: KeyedMutex<string>;
  readonly operations: ReturnType<typeof deviceOperations>;
}

/** Changes many devices in one commit. Results are in the order of the items. */
export async function changeMany(
  parts: BatchParts,
  context: Context,
  name: BatchOperation,
  items: readonly unknown[],
): Promise<Data<'batchUpdateDevices'>> {
  const found = await find(parts, name, items);
  const numbers = [...new Set(found.flatMap(item => ('number' in item ? [item.number] : [])))];
  return parts.changes.runAll(numbers.map(deviceIds.format), () =>
    retrying(() => attempt(parts, context, name, found, numbers)),
  );
}

/** Validates each item separately and finds the devices that they name. */
async function find({ store }: BatchParts, name: BatchOperation, items: readonly unknown[]): Promise<Match[]> {
  const read = items.map(item => readers[name](item));
  const serials = read.flatMap(item => (item.ok && item.value.serialNumber ? [item.value.serialNumber] : []));
  const bySerial = serials.length ? await store.devicesBySerial(serials) : new Map();
  return read.map((item, i): Match => {
    if (!item.ok) return failed(asGiven(items[i]), new ApiError(Code.parameterError, item.message));
    const number = numberOf(item.value, serial => bySerial.get(serial)?.number);
    return number instanceof ApiError ? failed(item.value, number) : { fields: item.value, number };
  });
}

/** Reads the devices, decides item after item, and commits what is accepted. */
async function attempt(
  parts: BatchParts,
  context: Context,
  name: BatchOperation,
  found: readonly Match[],
  numbers: readonly number[],
) {
  const { store, now } = parts;
  const records = await Promise.all(numbers.map(number => store.device(number)));
  const devices = new Map(records.flatMap(device => (device ? [[device.number, device] as const] : [])));
  const owners = name === 'ACTIVATE' ? found.flatMap(ownerOf) : [];
  const judgeOwner = owners.length > 0 ? await parts.owners?.judgeOwners(owners) : undefined;
  const at = now();
  const changes: DeviceChange[] = [];
  const guards: Guard[] = [];
  const changed = new Set<number>();
  const decide = async (item: Match): Promise<Decision> => {
    if ('failure' in item) return item;
    const device = devices.get(item.number);
    if (!device) return failed(item.fields, new ApiError(Code.deviceNotFound));
    if (item.fields.serialNumber !== undefined && item.fields.serialNumber !== device.serialNumber)
      return failed(item.fields, new ApiError(Code.parameterError, 'deviceId and serialNumber name different devices'));
    const outcome = await decideOne(parts, context, name, device, item.fields, at, judgeOwner);
    if (outcome instanceof ApiError) return failed(identity(device), outcome);
    const { set, guards: conditions, change, data } = outcome;
    const index = changes.push(change) - 1;
    // A later item is decided on what an earlier one has changed; the commit checks its guards before any change.
    if (!changed.has(device.number)) guards.push(...conditions);
    changed.add(device.number);
    devices.set(device.number, { ...device, ...set });
    const done = { ...identity(device), status: 'success', code: SUCCESS, message: 'success' } as const;
    return { success: committed => ({ ...done, data: { ...data(), version: versionOf(committed[index]) } }) };
  };
  const decided: Decision[] = [];
  for (const item of found) decided.push(await decide(item));
  const data = (committed: readonly ChangeResult[]) =>
    batchResults(decided.map(item => ('failure' in item ? item.failure : item.success(committed))));
  return changes.length ? commitLast(store, context, { at, changes, guards }, data) : data([]);
}

async function decideOne(
  { operations }: BatchParts,
  context: Context,
  name: BatchOperation,
  device: DeviceRecord,
  fields: Item,
  at: number,
  judgeOwner?: (userId: string) => OwnerVerdict,
) {
  // The reader of the operation has made the fields.
  const operation = operations[name] as DeviceAction<unknown, object>;
  try {
    const decision = await operation.decide(device, fields, at, context, judgeOwner);
    if (decision instanceof Refusal) return refused(decision);
    const { change, guards } = decision;
    const set: DeviceSet = change.kind === 'device.set' ? change.set : {};
    return { change, guards, set, data: () => operation.data(device, fields, at, set) };
  } catch (error) {
    // Too many wrong activation codes for this device.
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The user name that an item binds its device to. */
const ownerOf = (item: Match): string[] =>
  'fields' in item ? [(item.fields as { readonly userId?: string }).userId ?? ''].filter(Boolean) : [];

/** The number of the device that an item names, or why it names none. */
function numberOf({ deviceId, serialNumber }: Item, find: (serial: string) => number | undefined): number | ApiError {
  const bySerial = serialNumber === undefined ? undefined : find(serialNumber);
  if (deviceId === undefined) {
    if (serialNumber === undefined) return new ApiError(Code.parameterError, 'deviceId or serialNumber is required');
    return bySerial ?? new ApiError(Code.deviceNotFound);
  }
  const byId = deviceIds.parse(deviceId);
  if (byId === null || (serialNumber !== undefined && bySerial === undefined)) return new ApiError(Code.deviceNotFound);
  return byId;
}

const identity = (device: DeviceRecord) => ({
  deviceId: deviceIds.format(device.number),
  serialNumber: device.serialNumber,
});

function failed({ deviceId, serialNumber }: Item, { code, message }: ApiError) {
  const failure: BatchResult = {
    deviceId: deviceId ?? null,
    serialNumber: serialNumber ?? null,
    status: 'failed',
    code,
    message,
    data: null,
  };
  return { failure };
}

/** The id or serial number in an invalid item, cut to the longest valid length. */
function asGiven(item: unknown): Item {
  const given = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : undefined);
  return { deviceId: text(given.deviceId), serialNumber: text(given.serialNumber) };
}
