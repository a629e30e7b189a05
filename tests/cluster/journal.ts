/** Compares journal and tables of the primary with what clients and streams have received. */
import { journalEventTypes } from '../../src/contract/event-types.ts';
import type { Known } from './load.ts';

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

interface Row {
  readonly id: number;
  readonly at: number;
  readonly type: string;
  readonly device: number | null;
  readonly subject: number | null;
  readonly data: string;
}

/** A stream and its events since the last comparison. */
export interface Received {
  readonly name: string;
  readonly frames: readonly string[];
}

export interface Comparison {
  /** Id of the last entry that was compared. */
  readonly last: number;
  readonly faults: readonly string[];
}

const published = new Set<string>(journalEventTypes);
/** Faults of one kind that are shown: the first ones say enough. */
const SHOWN = 5;

/** Id of the last entry that streams receive; 0 if there is none. */
export async function lastPublished(query: Query): Promise<number> {
  const types = journalEventTypes.map(type => `'${type}'`).join(', ');
  const [row] = await query(`SELECT coalesce(max(id), 0)::int AS id FROM event WHERE type IN (${types})`);
  return row!.id as number;
}

/** Compares the entries after `from`, and the devices that changed. */
export async function compare(
  query: Query,
  from: number,
  changed: ReadonlyMap<number, Known>,
  streams: readonly Received[],
): Promise<Comparison> {
  const rows = (await query(
    `SELECT id::int, at::float8, type, device::int, subject::int, data FROM event WHERE id > ${from} ORDER BY id`,
  )) as unknown as readonly Row[];
  const faults = [
    ...inOrder(rows, from),
    ...histories(rows, changed),
    ...(await states(query, changed)),
    ...streams.flatMap(stream => sameAs(rows, stream)),
  ];
  return { last: from + rows.length, faults };
}

/** Ids without gaps and repeats, times that never go back. */
function inOrder(rows: readonly Row[], from: number): readonly string[] {
  return first(
    rows.flatMap(({ id, at }, i) => [
      ...(id === from + i + 1 ? [] : [`journal: entry ${from + i + 1} is ${id}`]),
      ...(i === 0 || at >= rows[i - 1]!.at ? [] : [`journal: the time of entry ${id} is before that of ${id - 1}`]),
    ]),
  );
}

/** Each acknowledged change has one entry, in order, and there is no other entry about a device. */
function histories(rows: readonly Row[], changed: ReadonlyMap<number, Known>): readonly string[] {
  const found = new Map<number, string[]>();
  for (const { device, type } of rows) {
    if (device === null) continue;
    const types = found.get(device);
    if (types) types.push(type);
    else found.set(device, [type]);
  }
  const numbers = new Set([...changed.keys(), ...found.keys()]);
  const faults = [...numbers].flatMap(number => {
    const expected = (changed.get(number)?.expected ?? []).join(' ');
    const has = (found.get(number) ?? []).join(' ');
    return has === expected ? [] : [`DEV-${number}: acknowledged are "${expected}", the journal has "${has}"`];
  });
  return first(faults);
}

async function states(query: Query, changed: ReadonlyMap<number, Known>): Promise<readonly string[]> {
  if (changed.size === 0) return [];
  const rows = await query(
    `SELECT number::int, serial_number, status, note, usage_count::int FROM device
       WHERE number = ANY('{${[...changed.keys()].join(',')}}')`,
  );
  const found = new Map(rows.map(row => [row.number as number, row]));
  const faults = [...changed.values()].flatMap(({ number, serial, status, note, uses }) => {
    const row = found.get(number);
    const has = row && `${row.serial_number} ${row.status} ${row.note} ${row.usage_count}`;
    const expected = `${serial} ${status} ${note} ${uses}`;
    return has === expected ? [] : [`DEV-${number} is ${has ?? 'lost'}, not ${expected}`];
  });
  return first(faults);
}

/** The stream has every published entry once, in order, and nothing else. */
function sameAs(rows: readonly Row[], { name, frames }: Received): readonly string[] {
  const expected = rows.filter(({ type }) => published.has(type)).map(frameOf);
  const length = Math.max(expected.length, frames.length);
  for (let i = 0; i < length; i++)
    if (bare(frames[i]) !== expected[i])
      return [`${name}: event ${i + 1} of ${expected.length} is ${frames[i] ?? 'lost'}, not ${expected[i] ?? 'there'}`];
  return [];
}

/** A frame without its end: who did it and what an update changed. */
const bare = (frame: string | undefined): string | undefined => frame?.replace(/,"actor":\{.*(?=\}$)/s, '');

function frameOf({ id, at, type, device, subject, data }: Row): string {
  const about =
    type === 'APP_VERSION_UPLOADED'
      ? { versionId: `VER-${subject}` }
      : device === null
        ? {}
        : { deviceId: `DEV-${device}` };
  return JSON.stringify({ id, type, timestamp: new Date(at).toISOString(), data: { ...about, ...JSON.parse(data) } });
}

const first = (faults: readonly string[]): readonly string[] =>
  faults.length <= SHOWN ? faults : [...faults.slice(0, SHOWN), `… and ${faults.length - SHOWN} more of this kind`];
