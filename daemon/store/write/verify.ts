/** Reads the journal from end to end, and compares the tables with what its entries say. The same for all engines. */

import { TimeSlice } from '../../base/concurrency.ts';
import type { CopiedTable, RowRange, StoredRows } from '../copy.ts';
import type { ChainedRow } from '../journal-end.ts';
import type { JournalKeyList } from '../key-ring.ts';
import type { Anchors, JournalReport } from '../maintenance.ts';
import type { Subjects } from '../subjects.ts';
import { columnOf } from '../table.ts';
import { events } from '../tables.ts';
import { JournalCheck } from './journal-check.ts';
import type { Replay, Report, RowComparison } from './replay.ts';

/** Rows read at a time. */
const CHUNK = 1000;

/**
 * Reports entries that were changed, removed, inserted or moved, and rows of users, devices, tokens, persons, receipts and
 * documents that are not what the entries say. `rows` must be of one moment. Works in time slices.
 */
export async function verifyJournal(
  subjects: Subjects,
  rows: StoredRows,
  keys: JournalKeyList,
  anchors?: Anchors,
): Promise<JournalReport> {
  const salts = new Map<number, string>();
  if (subjects.names) {
    const { table, select } = subjects.names.salts;
    for await (const part of partsOf<{ number: number; salt: string }>(rows, table.name as CopiedTable, select!))
      for (const { number, salt } of part) salts.set(number, salt);
  }
  const check = new JournalCheck(subjects, keys, anchors, number => salts.get(number));
  for await (const part of partsOf<ChainedRow>(rows, 'event', events.fields)) for (const row of part) check.entry(row);
  const hasRecords = (await rows.last('user')) > 0 || (await rows.last('device')) > 0;
  if (!check.end(await rows.head(), hasRecords)) return check.result();
  for (const replay of check.replays.all) {
    const also = subjects.comparisons.filter(({ table }) => table === replay.table);
    await compare(rows, replay, also, check.report);
  }
  return check.result();
}

async function compare<R extends object>(
  rows: StoredRows,
  replay: Replay<never, R>,
  also: readonly RowComparison<R>[],
  report: Report,
): Promise<void> {
  for await (const part of partsOf<R>(rows, replay.table, replay.fields)) {
    for (const row of part) replay.compare(row, report);
    for (const comparison of also) await comparison.compare(rows, part, report);
  }
  replay.end(report);
}

/** The rows of a table by their key, in parts. A database of an earlier version lacks some tables, and some columns, which are null. */
async function* partsOf<R extends object>(
  rows: StoredRows,
  table: CopiedTable,
  fields: readonly (keyof R & string)[],
): AsyncGenerator<readonly R[], void> {
  const key = table === 'event' ? 'id' : 'number';
  const all = [...new Set<string>([key, ...fields])] as (keyof R & string)[];
  const slice = new TimeSlice();
  for (let after = 0; ; ) {
    const part = await read<R>(rows, table, all, { after, limit: CHUNK });
    if (part.length > 0) yield part;
    if (part.length < CHUNK) return;
    after = (part.at(-1) as Record<string, unknown>)[key] as number;
    if (slice.over) await slice.pass();
  }
}

/** Rows as records. */
export async function read<R extends object>(
  rows: StoredRows,
  table: CopiedTable,
  fields: readonly (keyof R & string)[],
  range: Omit<RowRange, 'columns'>,
): Promise<readonly R[]> {
  const stored = await rows.columns(table);
  const present = fields.filter(field => stored.includes(columnOf(field)));
  if (present.length === 0) return [];
  const missing = fields.filter(field => !present.includes(field));
  const found = await rows.rows(table, { ...range, columns: present.map(columnOf) });
  return found.map(values => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < present.length; i++) row[present[i]!] = values[i];
    for (const field of missing) row[field] = null;
    return row as R;
  });
}
