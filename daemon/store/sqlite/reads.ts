import { TimeSlice } from '../../base/concurrency.ts';
import { type JournalRow, type SealedNames, toEvents } from '../chain.ts';
import type { EventRecord } from '../journal.ts';
import type { EventFilter, JournalHead } from '../queries.ts';
import { type ColumnFilter, eventColumns, eventFilters } from '../read/event-filters.ts';
import type { Reads } from '../read/records.ts';
import { besideDevices } from '../schema.ts';
import type { Reader } from '../store.ts';
import type { Subjects } from '../subjects.ts';
import { readHead } from './journal.ts';
import type { Statements } from './statements.ts';
import { SqliteTables } from './tables.ts';

/** The reads as the interface has them, each executed by `run`. */
export function readerOf(reads: Reads, run: <T>(read: () => T | Promise<T>) => Promise<T>): Reader {
  const wrapped = Object.entries(reads).map(([name, read]) => [
    name,
    (...input: unknown[]) => run(() => (read as (...input: unknown[]) => unknown)(...input)),
  ]);
  return Object.fromEntries(wrapped) as Reader;
}

/** The reads of a database in plain SQL. */
export function tableReads(subjects: Subjects, statements: Statements): Reads {
  const tables = new SqliteTables(statements);
  const own: Partial<Reads> = {
    events: filter => readEvents(tables, subjects.names, filter),
    journalHead(id) {
      if (id !== undefined) return statements.get<JournalHead>('SELECT id, mac FROM event WHERE id = ?', id) ?? null;
      const head = readHead(statements);
      return head === null ? null : { id: head.id, mac: head.mac };
    },
    lastEventId: () => lastEventId(statements),
  };
  return Object.assign(own, subjects.reads(tables), ...subjects.inSqlite.map(({ reads }) => reads?.(statements)));
}

/** Entries examined at a time: a filter that matches few must not hold the event loop while it walks the journal. */
const ENTRIES_AT_ONCE = 10_000;

/** The entries that match, in the order of the filter. Works in time slices. */
async function readEvents(
  tables: SqliteTables,
  names: SealedNames | undefined,
  filter: EventFilter,
): Promise<EventRecord[]> {
  const { statements } = tables;
  const { where, values } = conditions(filter);
  const order = filter.before === undefined ? 'ASC' : 'DESC';
  const index = filter.besideDevices ? indexedEntries(filter) : null;
  const sql = `SELECT ${eventColumns} FROM ${index?.from ?? 'event'} WHERE ${index?.where ?? 'true'} AND id > ? AND id <= ? ${where} ORDER BY id ${order} LIMIT ?`;
  const found: JournalRow[] = [];
  const slice = new TimeSlice();
  for (const [after, through] of ranges(statements, filter)) {
    if (found.length === filter.limit) break;
    if (slice.over) await slice.pass();
    const rows = statements.all<JournalRow>(sql, after, through, ...values, filter.limit - found.length);
    for (const row of rows) found.push(row);
  }
  return toEvents(found, names, tables);
}

/** Entries that an index finds: a walk through it skips all others. */
interface IndexedEntries {
  readonly from: string;
  readonly where: string;
  readonly values: readonly unknown[];
}

/** Null: the walk is through the whole journal. */
function indexedEntries({ device, besideDevices: isBeside }: EventFilter): IndexedEntries | null {
  if (isBeside) return { from: 'event INDEXED BY event_beside_devices', where: besideDevices, values: [] };
  return device === undefined ? null : { from: 'event', where: 'device = ?', values: [device] };
}

/** The ranges of ids (the first excluded, the second included) to search one after the other, each a bounded number of entries. */
function* ranges(statements: Statements, filter: EventFilter): Generator<readonly [after: number, through: number]> {
  const { after, before = Number.POSITIVE_INFINITY, through = Number.POSITIVE_INFINITY } = filter;
  const last = Math.min(lastEventId(statements), before - 1, through);
  const index = indexedEntries(filter);
  const isFiltered = eventFilters.some(({ name }) => filter[name] !== undefined);
  // Without a filter, the first rows of the whole range are the result.
  if (!isFiltered) {
    if (after < last) yield [after, last];
  } else if (filter.before === undefined) {
    for (let low = after; low < last; ) {
      const high = index === null ? low + ENTRIES_AT_ONCE : nextIn(statements, index, low);
      yield [low, Math.min(high ?? last, last)];
      low = high ?? last;
    }
  } else {
    for (let high = last; high > after; ) {
      const low = index === null ? high - ENTRIES_AT_ONCE : previousIn(statements, index, high);
      yield [Math.max(low ?? after, after), high];
      high = low ?? after;
    }
  }
}

/** Id of the entry of the index that is `ENTRIES_AT_ONCE` entries after `id`; undefined if it has fewer. Reads only the index. */
const nextIn = (statements: Statements, { from, where, values }: IndexedEntries, id: number) =>
  statements.value<number>(
    `SELECT id FROM ${from} WHERE ${where} AND id > ? ORDER BY id LIMIT 1 OFFSET ?`,
    ...values,
    id,
    ENTRIES_AT_ONCE,
  );

/** The bound of older entries of the index. */
const previousIn = (statements: Statements, { from, where, values }: IndexedEntries, id: number) =>
  statements.value<number>(
    `SELECT id FROM ${from} WHERE ${where} AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?`,
    ...values,
    id,
    ENTRIES_AT_ONCE,
  );

/** Id of the last entry; 0 if there is none. */
function lastEventId(statements: Statements): number {
  return statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
}

function conditions(filter: EventFilter): { where: string; values: unknown[] } {
  const terms = eventFilters.flatMap(compared => {
    const value = filter[compared.name];
    return value === undefined ? [] : [fieldTerm(compared, value)];
  });
  return { where: terms.map(([sql]) => `AND ${sql}`).join(' '), values: terms.map(([, value]) => value) };
}

/** A comparison and its value. The number of values to choose from varies: passed as one JSON text, they need one statement only. */
export const fieldTerm = ({ column, is }: ColumnFilter, value: unknown): readonly [sql: string, value: unknown] =>
  is === 'one of'
    ? [`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(value)]
    : [`${column} ${is} ?`, value];
