/** Lists of devices: one statement for a page and its total, so that both are of one moment. */
import type { DeviceSort } from '../../../src/contract/values.ts';
import { type DeviceRow, deviceRowFields } from '../../domain/device.ts';
import type { DeviceQuery, Rows } from '../store.ts';
import { deviceConditions, namesOnly } from './conditions.ts';
import type { Readers } from './readers.ts';
import { rowsOf } from './reads.ts';
import { selectList } from './tables.ts';
import { tagsOf } from './tags.ts';

/** The columns of a `DeviceRow`. */
export const rowColumns = selectList(Object.keys(deviceRowFields));

/** The row of a `DeviceRow`, which may have further columns. */
export function toDeviceRow({ sort_key: _, ...row }: Readonly<Record<string, unknown>>): DeviceRow {
  return { ...row, tags: tagsOf(row.tags as string | null) } as unknown as DeviceRow;
}

/** Devices are numbered in order of creation, and times never go back. */
const keys: Readonly<Record<DeviceSort, string | null>> = {
  deviceId: null,
  createTime: null,
  createdAt: null,
  activatedAt: 'activated_at',
  lastUsedAt: 'last_used_at',
  updatedAt: 'updated_at',
  serialNumber: 'serial_number',
  manufacturer: 'manufacturer',
  model: 'model',
  status: 'status',
  deviceType: 'device_type',
};

const nullable: ReadonlySet<DeviceSort> = new Set(['activatedAt', 'lastUsedAt', 'updatedAt']);

/** A page of devices. */
export async function listDevices(readers: Readers, query: DeviceQuery): Promise<Rows<DeviceRow>> {
  const isByNumber = keys[query.sortBy] === null && namesOnly(query, 'createdFrom', 'createdTo');
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

function pageByQuery(readers: Readers, query: DeviceQuery) {
  const { sortBy, descending, offset, limit } = query;
  const conditions = deviceConditions(query);
  const direction = descending ? 'DESC' : 'ASC';
  const key = keys[sortBy];
  // An index in one direction is read in both, if the order says nothing of nulls.
  const nulls = nullable.has(sortBy) ? ' NULLS LAST' : '';
  const order = (column: string | null) =>
    `${column === null ? '' : `${column} ${direction}${nulls}, `}number ${direction}`;
  const counted = namesOnly(query, 'deviceType', 'status', 'manufacturer');
  const total = counted
    ? 'SELECT coalesce(sum(count), 0)::int8 AS total FROM device_count'
    : 'SELECT count(*) AS total FROM device';
  const { where } = conditions;
  const page = `LIMIT ${conditions.value(limit)} OFFSET ${conditions.value(offset)}`;
  const sql = `SELECT t.total, p.* FROM (${total} ${where}) AS t LEFT JOIN (
      SELECT ${rowColumns}${key === null ? '' : `, ${key} AS sort_key`} FROM device ${where} ORDER BY ${order(key)} ${page}) AS p ON true
    ORDER BY ${order(key === null ? null : 'p.sort_key').replace(/number (?=\w+$)/, 'p.number ')}`;
  return readers.runOnce(sql, conditions.values);
}
