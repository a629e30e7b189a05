import { ApiError, Code } from '../../src/contract/codes.ts';
import { csvCell } from '../../src/contract/csv.ts';
import type { DeviceListItem } from '../../src/contract/devices.ts';
import { exportBounds } from '../../src/contract/limits.ts';
import { deviceListFields, type ExportFormat, proofColumn, proofGrades, tagColumn } from '../../src/contract/values.ts';
import type { DeviceFilter, ScanOptions } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import { type Caller, holderOf } from './context.ts';
import { RetryLater } from './limiter.ts';
import { listItem } from './present.ts';
import { Quota } from './quota.ts';

/** Columns of tags in CSV: each takes a comma in every line, and no spreadsheet has more than 16,384. */
const mostTagColumns = 1000;

/** An export that has started. */
export interface StartedExport {
  /** Its text. It ends with an error if the store cannot be read; it then lacks its end. Read it or end it. */
  readonly pieces: AsyncGenerator<string, void>;
  /** Call it when `pieces` has ended and the client has all of it or has gone: another export may then start. Idempotent. */
  readonly end: () => void;
}

/** Exports of devices as text. */
export class DeviceExport {
  readonly #store: Pick<Store, 'scanDevices' | 'devices'>;
  readonly #slots = new ExportSlots();

  constructor(store: Pick<Store, 'scanDevices' | 'devices'>) {
    this.#store = store;
  }

  /** Starts an export. Refuses with 429 if too many are running, and with 1001 if the devices have too many tags for CSV. */
  async start(
    caller: Caller,
    format: ExportFormat,
    filter: DeviceFilter,
    order: ScanOrder = {},
  ): Promise<StartedExport> {
    const end = this.#slots.take(caller);
    try {
      const pieces = (format === 'csv' ? csv : ndjson)(this.#store, filter, caller, order);
      // Takes `ready`. A generator that has started also ends properly if no one reads on.
      await pieces.next();
      return { pieces, end };
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** Exports at the same time: each holds a connection to the store and keeps its log from being shortened. */
class ExportSlots {
  readonly #all = new Quota({ each: exportBounds.each, all: exportBounds.all });
  readonly #viewers = new Quota({ each: exportBounds.each, all: exportBounds.viewers });

  /** Refuses with 429. The returned function gives the slot back. */
  take(caller: Caller): () => void {
    const holder = holderOf(caller);
    const ofViewers = caller.role === 'VIEWER' ? this.#viewers.take(holder) : () => {};
    const ofAll = ofViewers && this.#all.take(holder);
    if (!ofAll) {
      ofViewers?.();
      throw new RetryLater(tooMany, RETRY_SECONDS);
    }
    return () => {
      ofViewers();
      ofAll();
    };
  }
}

const tooMany = `too many exports are running: ${exportBounds.each} at a time for a user, ${exportBounds.viewers} for all VIEWERs, ${exportBounds.all} in all`;
/** An export of a million devices takes 3 s. */
const RETRY_SECONDS = 5;

/** The first piece: what can be refused was checked. */
const ready = '';

type Scan = Pick<Store, 'scanDevices' | 'devices'>;

type ScanOrder = Pick<ScanOptions, 'descending'>;

async function* ndjson(
  store: Scan,
  filter: DeviceFilter,
  caller: Caller,
  order: ScanOrder,
): AsyncGenerator<string, void> {
  yield ready;
  let count = 0;
  for await (const rows of store.scanDevices(filter, order)) {
    count += rows.length;
    yield rows.map(row => `${JSON.stringify(listItem(row, caller))}\n`).join('');
  }
  yield `${JSON.stringify({ end: true, count })}\n`;
}

/** The names of the tags are known before the first row: the header has a column for each. */
async function* csv(store: Scan, filter: DeviceFilter, caller: Caller, order: ScanOrder): AsyncGenerator<string, void> {
  let tags: readonly string[] = [];
  const found = (names: readonly string[]) => {
    tags = names;
  };
  const batches = store.scanDevices(filter, { ...order, tagNames: { limit: mostTagColumns, found } });
  try {
    let batch = await batches.next();
    if (tags.length > mostTagColumns) throw tooManyTags();
    yield ready;
    const proofs = (await hasProofs(store, filter)) ? [proofColumn] : [];
    yield `${[...deviceListFields, ...proofs, ...tags.map(name => tagColumn + name)].join(',')}\r\n`;
    for (; !batch.done; batch = await batches.next())
      yield batch.value.map(row => `${csvLine(listItem(row, caller), tags, proofs.length > 0)}\r\n`).join('');
  } finally {
    await batches.return();
  }
}

/** Whether there is a device that the column is for. Like those of tags, it is left out if all its cells would be empty. */
async function hasProofs(store: Scan, filter: DeviceFilter): Promise<boolean> {
  const proof = (filter.proof ?? proofGrades).filter(grade => grade !== 'none');
  if (proof.length === 0) return false;
  const page = { sortBy: 'deviceId', descending: false, offset: 0, limit: 1 } as const;
  return (await store.devices({ ...filter, ...page, proof })).total > 0;
}

const tooManyTags = () =>
  new ApiError(
    Code.parameterError,
    `format csv is limited to ${mostTagColumns} names of tags; export as ndjson, or fewer devices`,
  );

const csvLine = (item: DeviceListItem, tags: readonly string[], hasProof: boolean): string => {
  const fields = deviceListFields.map(name => csvCell(item[name] ?? ''));
  if (hasProof) fields.push(item.proof?.grade ?? '');
  const { tags: own } = item;
  return [...fields, ...tags.map(name => (Object.hasOwn(own, name) ? csvCell(own[name]!) : ''))].join(',');
};
