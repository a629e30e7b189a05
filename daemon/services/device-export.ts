import { ApiError } from '../../src/contract/codes.ts';
import { csvCell } from '../../src/contract/csv.ts';
import type { DeviceListItem } from '../../src/contract/devices.ts';
import { deviceListFields, type ExportFormat } from '../../src/contract/values.ts';
import type { DeviceRow } from '../domain/device.ts';
import type { DeviceFilter, Store } from '../store/store.ts';
import type { Caller } from './context.ts';
import { listItem } from './present.ts';

/** Exports at the same time: each holds a connection to the store and keeps its log from being shortened. */
const mostAtOnce = 4;

/** Exports of devices as text. */
export class DeviceExport {
  readonly #store: Pick<Store, 'scanDevices'>;
  #running = 0;

  constructor(store: Pick<Store, 'scanDevices'>) {
    this.#store = store;
  }

  /**
   * The text of an export, piece by piece. Refuses with 429 before the first piece if too many are running. Ends with an error
   * if the store cannot be read; the text then lacks its end.
   */
  start(caller: Caller, format: ExportFormat, filter: DeviceFilter): AsyncGenerator<string, void> {
    if (this.#running >= mostAtOnce) throw new ApiError(429, 'too many exports are running; try again later');
    const batches = this.#store.scanDevices(filter);
    return this.#counted(format === 'csv' ? csv(batches, caller) : ndjson(batches, caller));
  }

  /** Counted from the first piece on: a generator that is never started never ends either. */
  async *#counted(pieces: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
    this.#running++;
    try {
      yield* pieces;
    } finally {
      this.#running--;
    }
  }
}

type Batches = AsyncGenerator<readonly DeviceRow[], void>;

async function* ndjson(batches: Batches, caller: Caller): AsyncGenerator<string, void> {
  let count = 0;
  for await (const rows of batches) {
    count += rows.length;
    yield rows.map(row => `${JSON.stringify(listItem(row, caller))}\n`).join('');
  }
  yield `${JSON.stringify({ end: true, count })}\n`;
}

async function* csv(batches: Batches, caller: Caller): AsyncGenerator<string, void> {
  yield `${deviceListFields.join(',')}\r\n`;
  for await (const rows of batches) yield rows.map(row => `${csvLine(listItem(row, caller))}\r\n`).join('');
}

const csvLine = (item: DeviceListItem): string => deviceListFields.map(name => csvCell(item[name] ?? '')).join(',');
