import { TimeSlice } from '../../concurrency.ts';
import type { DeviceRow } from '../../domain/device.ts';
import type { DeviceFilter } from '../store.ts';
import { rowColumns } from './devices.ts';
import { toFailure } from './failure.ts';
import { conditions } from './lists-sql.ts';
import { openReader } from './open.ts';
import { Statements } from './statements.ts';

/** Device numbers looked at between two yields: half a millisecond, with what is made of them. */
const stretch = 250;
const sliceMs = 1;

/** See `Store.scanDevices`. A transaction on a connection of its own keeps the moment; the database's log grows meanwhile. */
export async function* scanDevices(file: string, filter: DeviceFilter): AsyncGenerator<readonly DeviceRow[], void> {
  const db = openReader(file);
  try {
    const statements = new Statements(db);
    db.exec('BEGIN');
    const last = statements.value<number | null>('SELECT max(number) FROM device') ?? 0;
    const { where, values } = conditions(filter);
    const sql = `SELECT ${rowColumns} FROM device ${where || 'WHERE true'} AND number > ? AND number <= ? ORDER BY number`;
    const slice = new TimeSlice(sliceMs);
    for (let after = 0; after < last; after += stretch) {
      const rows = statements.all<DeviceRow>(sql, ...values, after, after + stretch);
      if (rows.length > 0) yield rows;
      if (slice.over) await slice.pass();
    }
  } catch (error) {
    throw toFailure(error, 'cannot read', file);
  } finally {
    db.close();
  }
}
