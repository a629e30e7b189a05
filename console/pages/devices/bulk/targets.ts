/** The devices of a bulk operation, and its run. */
import type { ComponentChildren } from 'preact';
import { sizes } from '../../../../src/contract/limits.ts';
import { operationStates } from '../../../../src/contract/operation-states.ts';
import { type DeviceStatus, deviceStatuses } from '../../../../src/contract/values.ts';
import { BatchRun } from '../../../api/batch-run.ts';
import { exportedDevices } from '../../../api/export.ts';
import { call, type Data } from '../../../api/request.ts';
import type { EnteredFields } from '../../../parts/operations.tsx';
import { filterOf } from '../query.ts';
import type { BulkName, SelectedDevice } from '../selection.ts';

/** Targets of an operation. */
export interface BulkTargets {
  /** Ids of the devices that it changes. Of the others nothing is kept. */
  readonly ids: readonly string[];
  readonly byStatus: Readonly<Record<DeviceStatus, number>>;
  /** Finds out, when the run begins, which of them must stay as they are, and why. Absent: none. */
  readonly findKept?: () => Promise<ReadonlyMap<string, string>>;
  /** Counts of the devices that are left out already. */
  readonly note?: ComponentChildren;
}

/** Sorts devices by what the operation does with them. */
class Counter {
  readonly #fits: ReadonlySet<DeviceStatus>;
  readonly ids: string[] = [];
  readonly byStatus = Object.fromEntries(deviceStatuses.map(status => [status, 0])) as Record<DeviceStatus, number>;
  count = 0;

  constructor(name: BulkName) {
    this.#fits = new Set<DeviceStatus>(operationStates[name]);
  }

  add({ deviceId, status }: SelectedDevice): void {
    this.count++;
    this.byStatus[status]++;
    if (this.#fits.has(status)) this.ids.push(deviceId);
  }
}

/** The targets among devices that were selected one by one or by page. */
export function targetsAmong(name: BulkName, devices: readonly SelectedDevice[]): BulkTargets {
  const counter = new Counter(name);
  for (const device of devices) counter.add(device);
  return counter;
}

/**
 * The targets among all devices that match the filters of a query, as of one moment: a single export, read line by line. Calls
 * `onCount` with the number of devices that were received. Throws `Problem`, also if the export breaks off.
 */
export async function targetsMatching(
  name: BulkName,
  query: URLSearchParams,
  signal: AbortSignal,
  onCount: (count: number) => void,
): Promise<BulkTargets> {
  const counter = new Counter(name);
  for await (const device of exportedDevices(filterOf(query), signal)) {
    counter.add(device);
    if (counter.count % 1000 === 0) onCount(counter.count);
  }
  return counter;
}

/** Result for one device. */
export type ItemResult = Data<'batchUpdateDevices'>['results'][number];

/** An operation on the devices with these ids. */
export class BulkRun extends BatchRun<string, ItemResult, EnteredFields> {
  readonly name: BulkName;

  constructor(name: BulkName, { ids, findKept }: Pick<BulkTargets, 'ids' | 'findKept'>) {
    let kept: ReadonlyMap<string, string> | undefined;
    const count = Math.ceil(ids.length / sizes.batchUpdateItems);
    const batches = Array.from({ length: count }, (_, i) =>
      ids.slice(i * sizes.batchUpdateItems, (i + 1) * sizes.batchUpdateItems),
    );
    super(batches, async (batch, { confirmPassword, ...fields }, options) => {
      kept ??= (await findKept?.()) ?? new Map();
      const items = batch.filter(id => !kept?.has(id)).map(deviceId => ({ deviceId, ...fields }));
      const left = batch.flatMap(id => resultOfKept(id, kept?.get(id)));
      if (items.length === 0) return left;
      const body = { operation: name, items, ...(confirmPassword !== undefined && { confirmPassword }) };
      return [...(await call('batchUpdateDevices', { body }, options)).results, ...left];
    });
    this.name = name;
  }
}

const resultOfKept = (deviceId: string, why: string | undefined): ItemResult[] =>
  why === undefined ? [] : [{ deviceId, serialNumber: null, status: 'failed', code: 412, message: why, data: null }];
