import { ApiError, Code } from '../../src/contract/codes.ts';
import { csvCell } from '../../src/contract/csv.ts';
import type { DeviceListItem } from '../../src/contract/devices.ts';
import { exportBounds, personBounds } from '../../src/contract/limits.ts';
import { deviceListFields, type ExportFormat, proofColumn, proofGrades, tagColumn } from '../../src/contract/values.ts';
import type { StartedExport } from '../requests/content.ts';
import { type Caller, holderOf } from '../requests/context.ts';
import { RetryLater } from '../requests/limiter.ts';
import { Quota } from '../requests/quota.ts';
import type { Store } from '../store/store.ts';
import { listItem } from './present.ts';
import type { DeviceFilter, ScanOptions } from './queries.ts';
import type { DeviceRow } from './records.ts';

/** Columns of tags in CSV: each takes a comma in every line, and no spreadsheet has more than 16,384. */
const mostTagColumns = 1000;

/** Exports of devices as text. */
export class DeviceExport {
  readonly #store: Scan;
  readonly #slots = new ExportSlots();

  constructor(store: Scan) {
    this.#store = store;
  }

  /** Starts an export. Refuses with 429 if too many are running, and with 1001 if the devices have too many tags for CSV. */
  async start(
    caller: Caller,
    format: ExportFormat,
    filter: DeviceFilter,
    options: Options = {},
  ): Promise<StartedExport> {
    const end = this.#slots.take(caller);
    try {
      const pieces = (format === 'csv' ? csv : ndjson)(this.#store, filter, caller, options);
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

type Scan = Pick<Store, 'scanDevices' | 'devices' | 'people'>;

/** `names`: each device with the name of its person, as it is when the device is written. */
type Options = Pick<ScanOptions, 'descending'> & { readonly names?: boolean | undefined };

/** A device as a line of the export. */
type Item = DeviceListItem & { readonly name?: string | null };

/** Returns what makes items of the rows of a batch. */
async function itemsFor(store: Scan, caller: Caller, { names }: Options) {
  if (!names) return (rows: readonly DeviceRow[]): readonly Item[] => rows.map(row => listItem(row, caller));
  const read = await personNames(store, caller);
  return async (rows: readonly DeviceRow[]): Promise<readonly Item[]> => {
    const found = await read(rows);
    return rows.map(row => ({ ...listItem(row, caller), name: found.get(row.person ?? 0) ?? null }));
  };
}

async function* ndjson(
  store: Scan,
  filter: DeviceFilter,
  caller: Caller,
  options: Options,
): AsyncGenerator<string, void> {
  yield ready;
  const items = await itemsFor(store, caller, options);
  let count = 0;
  for await (const rows of store.scanDevices(filter, options)) {
    count += rows.length;
    yield (await items(rows)).map(item => `${JSON.stringify(item)}\n`).join('');
  }
  yield `${JSON.stringify({ end: true, count })}\n`;
}

/** The names of the tags are known before the first row: the header has a column for each. */
async function* csv(store: Scan, filter: DeviceFilter, caller: Caller, options: Options): AsyncGenerator<string, void> {
  let tags: readonly string[] = [];
  const found = (names: readonly string[]) => {
    tags = names;
  };
  const batches = store.scanDevices(filter, { ...options, tagNames: { limit: mostTagColumns, found } });
  try {
    let batch = await batches.next();
    if (tags.length > mostTagColumns) throw tooManyTags();
    yield ready;
    const items = await itemsFor(store, caller, options);
    const persons = await personColumn(store, caller);
    const fields = [
      ...deviceListFields.flatMap(field => (field === 'userId' ? [field, ...persons] : [field])),
      ...(options.names ? (['name'] as const) : []),
    ];
    const proofs = (await hasProofs(store, filter)) ? [proofColumn] : [];
    yield `${[...fields, ...proofs, ...tags.map(name => tagColumn + name)].join(',')}\r\n`;
    for (; !batch.done; batch = await batches.next())
      yield (await items(batch.value)).map(item => `${csvLine(item, fields, tags, proofs.length > 0)}\r\n`).join('');
  } finally {
    await batches.return();
  }
}

/** The column with the person: left out in a registry without persons, and for a VIEWER. */
const personColumn = async (store: Scan, { role }: Caller): Promise<readonly 'personId'[]> =>
  role === 'VIEWER' || !(await hasPersons(store)) ? [] : ['personId'];

const hasPersons = async (store: Pick<Store, 'people'>): Promise<boolean> =>
  (await store.people({ after: 0, descending: false, offset: 0, limit: 1 })).total > 0;

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

const csvLine = (
  item: Item,
  fields: readonly ((typeof deviceListFields)[number] | 'personId' | 'name')[],
  tags: readonly string[],
  hasProof: boolean,
): string => {
  const cells = fields.map(name => csvCell(item[name] ?? ''));
  if (hasProof) cells.push(item.proof?.grade ?? '');
  const { tags: own } = item;
  return [...cells, ...tags.map(name => (Object.hasOwn(own, name) ? csvCell(own[name]!) : ''))].join(',');
};

/** Names by number of the person. */
type Names = ReadonlyMap<number, string | null>;

const noNames: Names = new Map();

/**
 * Returns a function that reads the names of the persons of some devices. Each call reads them, because a registry can have more
 * than fit in memory. A VIEWER gets none, and in a registry without persons nothing is read.
 */
async function personNames(
  store: Pick<Store, 'people'>,
  { role }: Caller,
): Promise<(devices: readonly Pick<DeviceRow, 'person'>[]) => Promise<Names>> {
  const window = { descending: false, offset: 0 };
  if (role === 'VIEWER' || !(await hasPersons(store))) return async () => noNames;
  return async devices => {
    const numbers = [...new Set(devices.flatMap(({ person }) => person ?? []))];
    const names = new Map<number, string | null>();
    for (let at = 0; at < numbers.length; at += personBounds.named) {
      const some = numbers.slice(at, at + personBounds.named);
      const { rows } = await store.people({ numbers: some, after: 0, ...window, limit: some.length });
      for (const { number, name } of rows) names.set(number, name);
    }
    return names;
  };
}
