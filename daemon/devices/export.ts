import { inputError } from '../../src/contract/codes.ts';
import { csvCell } from '../../src/contract/csv.ts';
import type { DeviceListItem } from '../../src/contract/devices.ts';
import { proofGrades } from '../../src/contract/key-values.ts';
import { exportBounds } from '../../src/contract/limits.ts';
import { deviceListFields, type ExportFormat, proofColumn, tagColumn } from '../../src/contract/values.ts';
import type { StartedExport } from '../requests/content.ts';
import { type Caller, holderOf } from '../requests/context.ts';
import { RetryLater } from '../requests/limiter.ts';
import { Quota } from '../requests/quota.ts';
import type { Store } from '../store/store.ts';
import type { PersonNames } from './judges.ts';
import { listItem } from './present.ts';
import type { DeviceFilter, ScanOptions } from './queries.ts';
import type { DeviceRow } from './records.ts';

/** Columns of tags in CSV: each takes a comma in every line, and no spreadsheet has more than 16,384. */
const mostTagColumns = 1000;

/** Exports of devices as text. */
export class DeviceExport {
  readonly #source: Source;
  readonly #slots = new ExportSlots();

  /** `persons`: absent, devices have none. */
  constructor(store: Source['store'], persons?: PersonNames) {
    this.#source = { store, persons };
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
      const pieces = (format === 'csv' ? csv : ndjson)(this.#source, filter, caller, options);
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

interface Source {
  readonly store: Pick<Store, 'scanDevices' | 'devices'>;
  readonly persons: PersonNames | undefined;
}

/** `names`: each device with the name of its person, as it is when the device is written. */
type Options = Pick<ScanOptions, 'descending'> & { readonly names?: boolean | undefined };

/** A device as a line of the export. */
type Item = DeviceListItem & { readonly name?: string | null };

/** Returns what makes items of the rows of a batch. The names are read for each, because a registry can have more than fit in memory. */
async function itemsFor(source: Source, caller: Caller, { names }: Options) {
  if (!names) return (rows: readonly DeviceRow[]): readonly Item[] => rows.map(row => listItem(row, caller));
  const persons = await shownPersons(source, caller);
  return async (rows: readonly DeviceRow[]): Promise<readonly Item[]> => {
    const found = await persons?.namesOf(rows.flatMap(({ person }) => person ?? []));
    return rows.map(row => ({ ...listItem(row, caller), name: found?.get(row.person ?? 0) ?? null }));
  };
}

async function* ndjson(
  source: Source,
  filter: DeviceFilter,
  caller: Caller,
  options: Options,
): AsyncGenerator<string, void> {
  yield ready;
  const items = await itemsFor(source, caller, options);
  let count = 0;
  for await (const rows of source.store.scanDevices(filter, options)) {
    count += rows.length;
    yield (await items(rows)).map(item => `${JSON.stringify(item)}\n`).join('');
  }
  yield `${JSON.stringify({ end: true, count })}\n`;
}

/** The names of the tags are known before the first row: the header has a column for each. */
async function* csv(
  source: Source,
  filter: DeviceFilter,
  caller: Caller,
  options: Options,
): AsyncGenerator<string, void> {
  let tags: readonly string[] = [];
  const found = (names: readonly string[]) => {
    tags = names;
  };
  const batches = source.store.scanDevices(filter, { ...options, tagNames: { limit: mostTagColumns, found } });
  try {
    let batch = await batches.next();
    if (tags.length > mostTagColumns) throw tooManyTags();
    yield ready;
    const items = await itemsFor(source, caller, options);
    const persons = (await shownPersons(source, caller)) ? (['personId'] as const) : [];
    const fields = [
      ...deviceListFields.flatMap(field => (field === 'userId' ? [field, ...persons] : [field])),
      ...(options.names ? (['name'] as const) : []),
    ];
    const proofs = (await hasProofs(source.store, filter)) ? [proofColumn] : [];
    yield `${[...fields, ...proofs, ...tags.map(name => tagColumn + name)].join(',')}\r\n`;
    for (; !batch.done; batch = await batches.next())
      yield (await items(batch.value)).map(item => `${csvLine(item, fields, tags, proofs.length > 0)}\r\n`).join('');
  } finally {
    await batches.return();
  }
}

/** The persons of the registry; undefined if it has none, and for a VIEWER. */
const shownPersons = async ({ persons }: Source, { role }: Caller): Promise<PersonNames | undefined> =>
  role !== 'VIEWER' && (await persons?.hasPersons()) ? persons : undefined;

/** Whether there is a device that the column is for. Like those of tags, it is left out if all its cells would be empty. */
async function hasProofs(store: Source['store'], filter: DeviceFilter): Promise<boolean> {
  const proof = (filter.proof ?? proofGrades).filter(grade => grade !== 'none');
  if (proof.length === 0) return false;
  const page = { sortBy: 'deviceId', descending: false, offset: 0, limit: 1 } as const;
  return (await store.devices({ ...filter, ...page, proof })).total > 0;
}

const tooManyTags = () =>
  inputError('format', `csv is limited to ${mostTagColumns} names of tags; export as ndjson, or fewer devices`);

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
