import { TimeSlice } from '../../concurrency.ts';
import type { EventFilter, EventRecord } from '../store.ts';
import type { JournalRow } from './chain.ts';
import type { Statements } from './statements.ts';

/** Entries looked through at a time: a filter that matches few must not hold everybody up while it walks the journal. */
const stretch = 10_000;
const columns = 'id, at, type, device, subject, actor, request_id, data, detail';

export async function readEvents(statements: Statements, filter: EventFilter): Promise<EventRecord[]> {
  const { where, values, open } = conditions(filter);
  const sql = `SELECT ${columns} FROM event WHERE id > ? AND id <= ? ${where} ORDER BY id LIMIT ?`;
  const last = lastEventId(statements);
  const found: EventRecord[] = [];
  const slice = new TimeSlice();
  for (let after = filter.after; after < last && found.length < filter.limit; after += stretch) {
    if (slice.over) await slice.pass();
    const until = open ? last : Math.min(after + stretch, last);
    const rows = statements.all<JournalRow>(sql, after, until, ...values, filter.limit - found.length);
    for (const row of rows) found.push(toEvent(row));
    if (open) break;
  }
  return found;
}

export function lastEventId(statements: Statements): number {
  return statements.value<number | null>('SELECT max(id) FROM event') ?? 0;
}

/** `open`: there is nothing to match, so that the first rows are the answer. */
function conditions(filter: EventFilter): { where: string; values: unknown[]; open: boolean } {
  const terms: string[] = [];
  const values: unknown[] = [];
  const term = (sql: string, value: unknown) => {
    if (value === undefined) return;
    terms.push(`AND ${sql}`);
    values.push(value);
  };
  // The values vary in number: one text of JSON keeps the statement the same.
  term(
    'type IN (SELECT value FROM json_each(?))',
    filter.types === undefined ? undefined : JSON.stringify(filter.types),
  );
  term('device = ?', filter.device);
  term('actor = ?', filter.actor);
  term('at >= ?', filter.from);
  term('at <= ?', filter.to);
  return { where: terms.join(' '), values, open: terms.length === 0 };
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
