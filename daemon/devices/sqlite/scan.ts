import { TimeSlice } from '../../base/concurrency.ts';
import { toFailure } from '../../store/sqlite/failure.ts';
import { openReader } from '../../store/sqlite/open.ts';
import { Statements } from '../../store/sqlite/statements.ts';
import { tagsOf } from '../../store/sqlite/tables.ts';
import type { DeviceFilter, ScanOptions } from '../queries.ts';
import type { DeviceRow } from '../records.ts';
import { conditions } from './lists-sql.ts';
import { rowColumns, tagNames, toDeviceRow } from './rows.ts';

/** Device numbers looked at between two yields: half a millisecond, with what is made of them. */
const stretch = 250;
const sliceMs = 1;

/** Implements `Store.scanDevices`. A transaction on a connection of its own keeps the moment; the database's log grows until it ends. */
export async function* scanDevices(
  file: string,
  filter: DeviceFilter,
  { tagNames: wanted, descending }: ScanOptions = {},
): AsyncGenerator<readonly DeviceRow[], void> {
  const db = openReader(file);
  try {
    const statements = new Statements(db);
    db.exec('BEGIN');
    if (wanted) wanted.found(await namesOf(statements, filter, wanted.limit + 1));
    const rows = scan(statements, filter, rowColumns, descending);
    for await (const part of rows) yield part.map(toDeviceRow);
  } catch (error) {
    throw toFailure(error, 'cannot read', file);
  } finally {
    db.close();
  }
}

/** The rows that match, in parts that are not empty. Works in time slices. */
async function* scan(
  statements: Statements,
  filter: DeviceFilter,
  columns: string,
  descending = false,
): AsyncGenerator<unknown[], void> {
  const last = statements.value<number | null>('SELECT max(number) FROM device') ?? 0;
  const slice = new TimeSlice(sliceMs);
  const order = descending ? 'DESC' : 'ASC';
  for (let done = 0; done < last; done += stretch) {
    const after = descending ? Math.max(0, last - done - stretch) : done;
    const through = descending ? last - done : done + stretch;
    const { where, values } = conditions(filter, { after, through });
    const sql = `SELECT ${columns} FROM device ${where || 'WHERE true'} AND number > ? AND number <= ? ORDER BY number ${order}`;
    const rows = statements.all(sql, ...values, after, through);
    if (rows.length > 0) yield rows;
    if (slice.over) await slice.pass();
  }
}

/**
 * The names of the tags of the matching devices, sorted; at most `most`. Without a filter the index has the answer; else the
 * devices are read until every name that the registry has was seen.
 */
async function namesOf(statements: Statements, filter: DeviceFilter, most: number): Promise<readonly string[]> {
  const isFiltered = Object.values(filter).some(value => value !== undefined);
  const all = tagNames(statements, most);
  if (!isFiltered || all.length === 0) return all;
  const seen = new Set<string>();
  for await (const rows of scan(statements, filter, 'tags')) {
    for (const { tags } of rows as { tags: string | null }[])
      for (const name of Object.keys(tagsOf(tags))) seen.add(name);
    if (seen.size >= all.length) break;
  }
  return [...seen].sort().slice(0, most);
}
