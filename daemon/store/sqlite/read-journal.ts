import { TimeSlice } from '../../concurrency.ts';
import type { EventRecord } from '../../domain/journal.ts';
import { type JournalRow, toEvents } from '../chain.ts';
import type { EventFilter } from '../queries.ts';
import { eventFilters } from '../read/device-filters.ts';
import { personSalts } from '../tables.ts';
import { fieldTerm } from './lists-sql.ts';
import type { Statements } from './statements.ts';
import { SqliteTables } from './tables.ts';

/** Entries examined at a time: a filter that matches few must not hold the event loop while it walks the journal. */
const chunk = 10_000;
const columns = 'id, at, type, device, subject, actor, request_id, data, detail';

/** The entries that match, in the order of the filter. Works in time slices. */
export async function readEvents(statements: Statements, filter: EventFilter): Promise<EventRecord[]> {
  const { where, values } = conditions(filter);
  const order = filter.before === undefined ? 'ASC' : 'DESC';
  const sql = `SELECT ${columns} FROM event WHERE id > ? AND id <= ? ${where} ORDER BY id ${order} LIMIT ?`;
  const found: JournalRow[] = [];
  const slice = new TimeSlice();
  for (const [after, through] of ranges(statements, filter)) {
    if (found.length === filter.limit) break;
    if (slice.over) await slice.pass();
    const rows = statements.all<JournalRow>(sql, after, through, ...values, filter.limit - found.length);
    for (const row of rows) found.push(row);
  }
  return toEvents(found, persons => new SqliteTables(statements).many(personSalts, persons));
}

/** The ranges of ids (the first excluded, the second included) to search one after the other, each a bounded number of entries. */
function* ranges(statements: Statements, filter: EventFilter): Generator<readonly [after: number, through: number]> {
  const { after, before = Number.POSITIVE_INFINITY, through = Number.POSITIVE_INFINITY, device } = filter;
  const last = Math.min(lastEventId(statements), before - 1, through);
  const isFiltered = eventFilters.some(({ name }) => filter[name] !== undefined);
  // Without a filter, the first rows of the whole range are the result.
  if (!isFiltered) {
    if (after < last) yield [after, last];
  } else if (filter.before === undefined) {
    for (let low = after; low < last; ) {
      const high = device === undefined ? low + chunk : nextOfDevice(statements, device, low);
      yield [low, Math.min(high ?? last, last)];
      low = high ?? last;
    }
  } else {
    for (let high = last; high > after; ) {
      const low = device === undefined ? high - chunk : previousOfDevice(statements, device, high);
      yield [Math.max(low ?? after, after), high];
      high = low ?? after;
    }
  }
}

/** Id of the entry of the device that is `chunk` entries after `id`; undefined if it has fewer. Reads only the index. */
const nextOfDevice = (statements: Statements, device: number, id: number) =>
  statements.value<number>(
    'SELECT id FROM event WHERE device = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?',
    device,
    id,
    chunk,
  );

/** The same in the other direction. */
const previousOfDevice = (statements: Statements, device: number, id: number) =>
  statements.value<number>(
    'SELECT id FROM event WHERE device = ? AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    device,
    id,
    chunk,
  );

/** Id of the last entry; 0 if there is none. */
export function lastEventId(statements: Statements): number {
  return statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
}

function conditions(filter: EventFilter): { where: string; values: unknown[] } {
  const terms = eventFilters.flatMap(compared => {
    const value = filter[compared.name];
    return value === undefined ? [] : [fieldTerm(compared, value)];
  });
  return { where: terms.map(([sql]) => `AND ${sql}`).join(' '), values: terms.map(([, value]) => value) };
}
