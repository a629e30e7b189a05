/** Reads of devices for lists. */

import type { Rows } from '../../store/queries.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import { decoder } from '../../store/sqlite/tables.ts';
import { selectList } from '../../store/table.ts';
import { type DeviceRow, deviceRowFields } from '../records.ts';
import { devices } from '../tables.ts';
import type { NumberPage } from './lists-sql.ts';

const rowFields = Object.keys(deviceRowFields) as (keyof DeviceRow)[];
/** The columns of a `DeviceRow`. */
export const rowColumns = selectList(rowFields);
/** Makes it of a row of these. */
export const toDeviceRow: (row: unknown) => DeviceRow = decoder(devices, rowFields);

const consecutive = (order: 'ASC' | 'DESC') =>
  `SELECT ${rowColumns} FROM device WHERE number BETWEEN ? AND ? ORDER BY number ${order}`;
const ascending = consecutive('ASC');
const descending = consecutive('DESC');
const anyNumbers = `SELECT ${rowColumns} FROM json_each(?) AS wanted CROSS JOIN device ON device.number = wanted.value ORDER BY wanted.key`;

/**
 * The rows of a page of devices, in its order. One statement reads them all: measured for 20 rows, 22 µs instead of 25 with a statement
 * for each, and 14 µs if the numbers are consecutive, as they are in a list without filters.
 */
export function deviceRows(statements: Statements, { numbers, total }: NumberPage): Rows<DeviceRow> {
  return { rows: rowsOf(statements, numbers).map(toDeviceRow), total };
}

function rowsOf(statements: Statements, numbers: readonly number[]): unknown[] {
  const first = numbers[0] ?? 0;
  if (numbers.every((number, i) => number === first - i))
    return statements.all(descending, first - numbers.length + 1, first);
  if (numbers.every((number, i) => number === first + i))
    return statements.all(ascending, first, first + numbers.length - 1);
  return statements.all(anyNumbers, JSON.stringify(numbers));
}

/** Every name that a tag has, sorted; at most `limit`. Jumps from name to name in the index, however many devices have one. */
export const tagNames = (statements: Statements, limit: number): string[] =>
  statements.values<string>(
    `WITH RECURSIVE names (name) AS (
       SELECT min(name) FROM device_tag
       UNION ALL
       SELECT (SELECT min(name) FROM device_tag WHERE name > names.name) FROM names WHERE names.name IS NOT NULL
     )
     SELECT name FROM names WHERE name IS NOT NULL LIMIT ?`,
    limit,
  );
