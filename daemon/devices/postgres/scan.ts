import { StoreFailure } from '../../store/commit.ts';
import { toFailure } from '../../store/postgres/failure.ts';
import type { DatabaseSession } from '../../store/postgres/session.ts';
import { tagArray } from '../../store/postgres/tags.ts';
import type { DeviceFilter, ScanOptions } from '../queries.ts';
import type { DeviceRow } from '../records.ts';
import { presentConditions } from './conditions.ts';
import { rowColumns, toDeviceRow } from './lists.ts';

/** Rows of a batch. */
const BATCH = 250;

/** Implements `Store.scanDevices`. A cursor in a transaction of its own keeps the moment; later rows are not cleaned up until it ends. */
export async function* scanDevices(
  open: () => Promise<DatabaseSession>,
  filter: DeviceFilter,
  { tagNames, descending }: ScanOptions = {},
): AsyncGenerator<readonly DeviceRow[], void> {
  const session = await open();
  try {
    const { where, values } = presentConditions(filter);
    await session.runOnce('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    if (tagNames) tagNames.found(await namesOf(session, filter, tagNames.limit + 1));
    const declare = `DECLARE scan NO SCROLL CURSOR FOR SELECT ${rowColumns} FROM device ${where} ORDER BY number ${descending ? 'DESC' : 'ASC'}`;
    const [, first] = await Promise.all([
      session.runOnce(declare, values),
      session.runOnce(`FETCH ${BATCH} FROM scan`),
    ]);
    let { rows } = first;
    while (rows.length > 0) {
      yield rows.map(toDeviceRow);
      if (rows.length < BATCH) break;
      ({ rows } = await session.runOnce(`FETCH ${BATCH} FROM scan`));
    }
  } catch (error) {
    throw error instanceof StoreFailure ? error : toFailure(error, 'cannot read');
  } finally {
    await session.close();
  }
}

/** The names of the tags of the matching devices, sorted; at most `most`. */
async function namesOf(session: DatabaseSession, filter: DeviceFilter, most: number): Promise<string[]> {
  const conditions = presentConditions(filter);
  conditions.addTerm('tags IS NOT NULL');
  const { rows } = await session.runOnce(
    `SELECT DISTINCT split_part(line, ':', 1) COLLATE "C" AS name FROM device CROSS JOIN unnest(${tagArray}) AS line
     ${conditions.where} ORDER BY name LIMIT ${conditions.value(most)}`,
    conditions.values,
  );
  return rows.map(({ name }) => name as string);
}
