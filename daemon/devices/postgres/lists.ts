/** Lists of devices: one statement for a page and its total, so that both are of one moment. */
import type { DeviceSort } from '../../../src/contract/values.ts';
import { Conditions } from '../../store/postgres/conditions.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import type { Result } from '../../store/postgres/session.ts';
import { rowsOf } from '../../store/postgres/tables.ts';
import { tagsOf } from '../../store/postgres/tags.ts';
import type { Rows } from '../../store/queries.ts';
import { selectList } from '../../store/table.ts';
import { namesOnly, sortColumn } from '../filters.ts';
import type { DeviceQuery } from '../queries.ts';
import { type DeviceRow, deviceRowFields } from '../records.ts';
import { Beginnings } from './beginnings.ts';
import { markFields, marksOf, presentConditions } from './conditions.ts';
import { type Moment, movingOf } from './remembered.ts';
import { findWords, isBroad } from './search.ts';
import { type Few, totalOf } from './totals.ts';

/** The columns of a `DeviceRow`. */
export const rowColumns = selectList(Object.keys(deviceRowFields));

/** The row of a `DeviceRow`. */
export function toDeviceRow(row: Readonly<Record<string, unknown>>): DeviceRow {
  return { ...row, tags: tagsOf(row.tags as string | null) } as unknown as DeviceRow;
}

const nullable: ReadonlySet<DeviceSort> = new Set(['activatedAt', 'lastUsedAt', 'updatedAt']);

/** A page of devices. They are numbered in order of creation, and times never go back. */
export async function listDevices(readers: Readers, asked: DeviceQuery): Promise<Rows<DeviceRow>> {
  const query = asked.search === undefined ? asked : { ...asked, search: await findWords(readers, asked.search) };
  const isByNumber = sortColumn(query.sortBy) === null && namesOnly(query, 'createdFrom', 'createdTo');
  const { rows } = isByNumber ? await pageByNumber(readers, query) : await pageByQuery(readers, query);
  return rowsOf(rows, toDeviceRow);
}

/** Numbers have no gaps: page and total follow from the first and the last number, however deep the page is. */
function pageByNumber(readers: Readers, { descending, offset, limit, createdFrom, createdTo }: DeviceQuery) {
  const direction = descending ? 'DESC' : 'ASC';
  const bound = (parameter: string, otherwise: string) =>
    `CASE WHEN ${parameter}::int8 IS NULL THEN ${otherwise} ELSE coalesce(
       (SELECT number FROM device WHERE created_at >= ${parameter} ORDER BY created_at, number LIMIT 1), head.device + 1) END`;
  const range = descending ? 'r.past - $3 - $4 AND r.past - $3 - 1' : 'r.first + $3 AND r.first + $3 + $4 - 1';
  return readers.run(
    `SELECT r.total, p.* FROM (
       SELECT first, past, greatest(past - first, 0) AS total FROM (
         SELECT ${bound('$1', '1')} AS first, ${bound('$2', 'head.device + 1')} AS past FROM head) AS b) AS r
     LEFT JOIN LATERAL (
       SELECT ${rowColumns} FROM device WHERE number BETWEEN ${range} AND number >= r.first AND number < r.past) AS p ON true
     ORDER BY p.number ${direction}`,
    [createdFrom ?? null, createdTo ?? null, offset, limit],
  );
}

/**
 * Reads the numbers of the page from an index first, then their rows. The first statement assumes that the remembered page and
 * total are still valid; if they are not, a second one searches all devices. One statement for both cases takes twice as long to
 * plan.
 */
async function pageByQuery(readers: Readers, query: DeviceQuery, isFirst = true): Promise<Pick<Result, 'rows'>> {
  const conditions = presentConditions(query);
  const beginnings =
    sortColumn(query.sortBy) === null && !isInOrder(query) && !isBroad(query)
      ? new Beginnings(readers, query)
      : undefined;
  const known = isFirst ? beginnings?.known(conditions.values) : undefined;
  const options = { looksUp: !known, given: known?.areKept, mayBeNull: isFirst };
  const total = totalOf(readers, query, conditions.values, options);
  const few = isSorted(query) ? total.few : undefined;
  const before = few ? `${few.tables(conditions.where)}, ` : '';
  const numbers = known?.page(conditions) ?? (few ? pageOfFew(few, query, conditions) : numbersOf(query, conditions));
  const sql = `WITH ${before}counted AS MATERIALIZED (${total.sql}), page AS MATERIALIZED (${numbers})
    SELECT t.*, p.* FROM counted AS t LEFT JOIN (
      SELECT place, ${rowColumns.replace('number', 'd.number')} FROM page JOIN device AS d ON d.number = page.number
      -- What has no rows is not searched.
      WHERE (SELECT total FROM counted) > ${conditions.value(query.offset)}) AS p ON true
    ORDER BY p.place`;
  const { rows } = await readers.runOnce(sql, conditions.values);
  total.read(rows[0]!);
  if (isFirst && rows[0]!.total === null) {
    beginnings?.forget();
    return pageByQuery(readers, query, false);
  }
  const found = rows.filter(({ number }) => number !== null).map(({ number }) => number as number);
  beginnings?.read(rows[0]!.moment as Moment, rows[0]!.total as number, found);
  return { rows: rows.map(({ place: _, moment: __, ...row }) => row) };
}

/** Whether an index has the matches in the order of numbers, with no other devices between them. */
function isInOrder(query: DeviceQuery): boolean {
  if (query.serialNumber !== undefined) return true;
  const { deviceType, status, manufacturer, model, userId, proof, createdFrom, createdTo } = query;
  if (
    !namesOnly(
      query,
      'deviceType',
      'status',
      'manufacturer',
      'model',
      'userId',
      'createdFrom',
      'createdTo',
      ...markFields,
    )
  )
    return false;
  // The planner does not use the index of marks for a range of numbers.
  const isRange = createdFrom !== undefined || createdTo !== undefined;
  if (proof?.includes('none') || (isRange && marksOf(query).length > 0)) return false;
  const texts = [manufacturer, model, userId].map(text => text && [text]);
  const indexed = [deviceType, status, ...texts, ...marksOf(query)];
  const [first, ...others] = indexed.filter(values => values !== undefined);
  return first?.length === 1 && others.length === 0;
}

/**
 * Whether to find few matches first and sort them, because no index in the order of the page has them near each other. Marks are
 * in the order of numbers. Devices before a time are the oldest ones: in the order of numbers all others come first, which the
 * planner does not know.
 */
function isSorted(query: DeviceQuery): boolean {
  const isByNumber = sortColumn(query.sortBy) === null;
  return (
    query.keyword !== undefined ||
    query.search !== undefined ||
    (movingOf(query) === undefined ? !isByNumber : isByNumber)
  );
}

/** If few devices match, a materialized subquery finds them first. The planner would search all devices in the order of the page. */
function pageOfFew(few: Few, query: DeviceQuery, conditions: Conditions): string {
  const key = sortColumn(query.sortBy);
  const source =
    key === null
      ? 'hits AS device'
      : `(SELECT d.number, d.${key} FROM hits JOIN device AS d ON d.number = hits.number OFFSET 0) AS device`;
  const sorted = numbersOf(query, new Conditions(conditions.values), source);
  return `SELECT * FROM (${sorted}) AS n WHERE ${few.areAll}
    UNION ALL SELECT * FROM (${numbersOf(query, conditions)}) AS n WHERE NOT ${few.areAll}`;
}

const numbersOf = (query: DeviceQuery, conditions: Conditions, source = 'device'): string =>
  (nullable.has(query.sortBy) ? numbersByTime : numbersBy)(query, conditions, source);

const placed = 'row_number() OVER () AS place, number';

function numbersBy({ sortBy, descending, offset, limit }: DeviceQuery, conditions: Conditions, source: string): string {
  const direction = descending ? 'DESC' : 'ASC';
  const key = sortColumn(sortBy);
  const order = `${key === null ? '' : `${key} ${direction}, `}number ${direction}`;
  return `SELECT ${placed} FROM (
    SELECT number FROM ${source} ${conditions.where} ORDER BY ${order}
    LIMIT ${conditions.value(limit)} OFFSET ${conditions.value(offset)}) AS n`;
}

/**
 * Devices without the time come last in both directions, which no index has: first a page of those that have it, from their index.
 * Only if it is not full, the others follow; how many come before them is counted only then.
 */
function numbersByTime(
  { sortBy, descending, offset, limit, lastUsedBefore }: DeviceQuery,
  conditions: Conditions,
  source: string,
): string {
  const direction = descending ? 'DESC' : 'ASC';
  const key = sortColumn(sortBy)!;
  const [most, skipped] = [conditions.value(limit), conditions.value(offset)];
  // If the filter has a bound for the time of the order, the index is read from that bound.
  const isBound = sortBy === 'lastUsedAt' && lastUsedBefore !== undefined;
  const timed = conditions.and(`${key} ${isBound ? `< ${conditions.value(lastUsedBefore)}` : 'IS NOT NULL'}`);
  const found = '(SELECT count(*) FROM timed)';
  return `WITH timed AS MATERIALIZED (
      SELECT number, row_number() OVER () AS place FROM (
        SELECT number FROM ${source} ${timed} ORDER BY ${key} ${direction}, number ${direction} LIMIT ${most} OFFSET ${skipped}) AS n)
    SELECT place, number FROM (
      SELECT place, number FROM timed UNION ALL
      SELECT ${most} + row_number() OVER (), number FROM (
        SELECT number FROM ${source} ${conditions.and(`${key} IS NULL`)} ORDER BY number ${direction}
        LIMIT ${most} - ${found}
        OFFSET CASE WHEN ${found} > 0 OR ${skipped} = 0 THEN 0
          ELSE ${skipped} - (SELECT count(*) FROM ${source} ${timed}) END) AS n) AS both_parts
    -- For the planner, which expects a tenth of the table otherwise.
    LIMIT ${most}`;
}
