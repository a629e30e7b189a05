import type { ProofGrade } from '../../../../src/contract/values.ts';
import { selectList } from '../../table.ts';
import { proofGrade } from '../lists-sql.ts';
import type { Statements } from '../statements.ts';
import { type DeviceColumns, type ListedDevice, listedFields } from './device-columns.ts';

const chunk = 1000;
const sql = `SELECT ${selectList(listedFields)}, ${proofGrade} AS grade FROM device WHERE number > ? ORDER BY number LIMIT ${chunk}`;

/** Adds the devices that are in the database but not yet in the columns. Yields regularly. */
export function* load(statements: Statements, columns: DeviceColumns): Generator<void, void> {
  columns.reserve(statements.value<number | null>('SELECT max(number) FROM device') ?? 0);
  for (;;) {
    const rows = statements.all<ListedDevice & { readonly grade: ProofGrade }>(sql, columns.count);
    for (const row of rows) columns.add(row, row.grade);
    if (rows.length < chunk) return;
    yield;
  }
}
