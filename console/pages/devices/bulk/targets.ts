/** The devices of a bulk operation. */
import { operationStates } from '../../../../src/contract/operation-states.ts';
import { type DeviceStatus, deviceStatuses } from '../../../../src/contract/values.ts';
import { open } from '../../../api/request.ts';
import { filterOf } from '../query.ts';
import type { BulkName, Selected } from '../selection.ts';

/** What an operation is about to do. */
export interface BulkTargets {
  /** Ids of the devices that it changes. Of the others nothing is kept. */
  readonly ids: readonly string[];
  /** Number of selected devices by state. */
  readonly byStatus: Readonly<Record<DeviceStatus, number>>;
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

  add({ deviceId, status }: Selected): void {
    this.count++;
    this.byStatus[status]++;
    if (this.#fits.has(status)) this.ids.push(deviceId);
  }
}

/** The targets among devices that were selected one by one or by page. */
export function targetsAmong(name: BulkName, devices: readonly Selected[]): BulkTargets {
  const counter = new Counter(name);
  for (const device of devices) counter.add(device);
  return counter;
}

/**
 * The targets among all devices that match the filters of a query, as of one moment: a single export, read line by line. Calls `onCount` with the
 * number of devices that were received. Throws `Problem`, also if the export breaks off.
 */
export async function targetsMatching(
  name: BulkName,
  query: URLSearchParams,
  signal: AbortSignal,
  onCount: (count: number) => void,
): Promise<BulkTargets> {
  const { body } = await open('exportDevices', { query: { ...filterOf(query), format: 'ndjson' } }, { signal });
  const counter = new Counter(name);
  let isWhole = false;
  for await (const lines of linesOf(body)) {
    for (const line of lines) {
      const device = JSON.parse(line) as Selected & { readonly end?: true };
      if (device.end) isWhole = true;
      else counter.add(device);
    }
    onCount(counter.count);
  }
  if (!isWhole) throw new Error('the list of devices broke off');
  return counter;
}

/** The whole lines of each part of a body. */
async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string[]> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    yield lines.filter(Boolean);
  }
  if (rest) yield [rest];
}
