import { TimeSlice } from '../../concurrency.ts';
import type { EventRecord } from '../../domain/journal.ts';
import type { EventFilter } from '../store.ts';
import type { JournalRow } from './chain.ts';
import type { Statements } from './statements.ts';

/** Entries examined at a time: a filter that matches few must not hold the event loop while it walks the journal. */
const chunk = 10_000;
const columns = 'id, at, type, device, subject, actor, request_id, data, detail';

/** The entries that match, in the order of the journal. Works in time slices. */
export async function readEvents(statements: Statements, filter: EventFilter): Promise<EventRecord[]> {
  const { where, values, unfiltered } = conditions(filter);
  const sql = `SELECT ${columns} FROM event WHERE id > ? AND id <= ? ${where} ORDER BY id LIMIT ?`;
  const last = lastEventId(statements);
  const found: EventRecord[] = [];
  const slice = new TimeSlice();
  for (let after = filter.after; after < last && found.length < filter.limit; after += chunk) {
    if (slice.over) await slice.pass();
    const until = unfiltered ? last : Math.min(after + chunk, last);
    const rows = statements.all<JournalRow>(sql, after, until, ...values, filter.limit - found.length);
    for (const row of rows) found.push(toEvent(row));
    if (unfiltered) break;
  }
  return found;
}

/** Id of the last entry; 0 if there is none. */
export function lastEventId(statements: Statements): number {
  return statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
}

/** `unfiltered`: every entry matches, so the first rows are the result. */
function conditions(filter: EventFilter): { where: string; values: unknown[]; unfiltered: boolean } {
  const terms: string[] = [];
  const values: unknown[] = [];
  const term = (sql: string, value: unknown) => {
    if (value === undefined) return;
    terms.push(`AND ${sql}`);
    values.push(value);
  };
  // The number of values varies: passed as one JSON text, they need one statement only.
  term(
    'type IN (SELECT value FROM json_each(?))',
    filter.types === undefined ? undefined : JSON.stringify(filter.types),
  );
  term('device = ?', filter.device);
  term('actor = ?', filter.actor);
  term('at >= ?', filter.from);
  term('at <= ?', filter.to);
  return { where: terms.join(' '), values, unfiltered: terms.length === 0 };
}

const parse = (json: string): Record<string, unknown> => (json === '{}' ? {} : JSON.parse(json));

function toEvent(row: JournalRow): EventRecord {
  return {
    id: row.id,
    at: row.at,
    type: row.type as EventRecord['type'],
    device: row.device,
    subject: row.subject,
    actor: row.actor,
    requestId: row.request_id,
    data: parse(row.data),
    detail: parse(row.detail),
  };
}
