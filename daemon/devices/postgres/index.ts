/** Devices in PostgreSQL. */
import { hourMs } from '../../../src/contract/durations.ts';
import { manyDevices } from '../../store/postgres/migrations.ts';
import type { PostgresSubject } from '../../store/postgres/subject.ts';
import { column, type Statement } from '../../store/postgres/tables.ts';
import { DeviceCounts } from '../counts.ts';
import { keyedFilter } from '../filters.ts';
import type { DeviceRecord } from '../records.ts';
import { devices as table } from '../tables.ts';
import { derived, faults } from './derived.ts';
import { listDevices } from './lists.ts';
import { scanDevices } from './scan.ts';
import { readStatistics } from './statistics.ts';

const addCounts = `INSERT INTO device_count (manufacturer, device_type, status, count)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
  ON CONFLICT (manufacturer, device_type, status) DO UPDATE SET count = device_count.count + excluded.count`;
const addToUsers = `INSERT INTO device_key_count AS c (user_key, manufacturer, device_type, status, count)
  SELECT user_key, manufacturer, device_type, status, count(*)
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (user_key, manufacturer, device_type, status)
  WHERE user_key IN (SELECT user_key FROM device_key_count) GROUP BY 1, 2, 3, 4
  ON CONFLICT (user_key, manufacturer, device_type, status) DO UPDATE SET count = c.count + excluded.count`;
/** Joins sets: a look at each user reads the whole table each time while its statistics say that it has a few rows. */
const countNewUsers = `INSERT INTO device_key_count (user_key, manufacturer, device_type, status, count)
  WITH many AS MATERIALIZED (
    SELECT user_key FROM device
    WHERE user_key IN (SELECT unnest($1::text[]) EXCEPT SELECT user_key FROM device_key_count)
    GROUP BY user_key HAVING count(*) > ${manyDevices})
  SELECT user_key, manufacturer, device_type, status, count(*) FROM device WHERE user_key IN (SELECT user_key FROM many)
  GROUP BY user_key, manufacturer, device_type, status`;
const addHours = `INSERT INTO registration_count (hour, count) SELECT hour, count(*) FROM unnest($1::int8[]) AS n (hour) GROUP BY hour
  ON CONFLICT (hour) DO UPDATE SET count = registration_count.count + excluded.count`;

/** Counts new devices that are bound: a trigger counts those that are bound later. */
function* countBound(bound: readonly DeviceRecord[]): Generator<Statement> {
  const kinds = [column(bound, 'userKey'), column(bound, 'manufacturer'), column(bound, 'deviceType')];
  yield [addToUsers, [...kinds, column(bound, 'status')]];
  yield [countNewUsers, [[...new Set(column(bound, 'userKey'))]]];
}

export const devicesInPostgres: PostgresSubject = {
  derived,
  faults,
  reads: readers => ({
    devices: query => listDevices(readers, keyedFilter(query)),
    statistics: query => readStatistics(readers, query),
  }),
  streams: open => ({ scanDevices: (filter, options) => scanDevices(open, keyedFilter(filter), options) }),
  *writes(draft) {
    const counts = draft.part(DeviceCounts).all;
    const kinds = [column(counts, 'manufacturer'), column(counts, 'deviceType'), column(counts, 'status')];
    if (counts.length > 0) yield [addCounts, [...kinds, column(counts, 'by')]];
    const { added } = draft.of(table);
    const bound = added.filter(({ userKey }) => userKey !== null);
    if (bound.length > 0) yield* countBound(bound);
    if (added.length > 0) yield [addHours, [added.map(({ createdAt }) => Math.floor(createdAt / hourMs))]];
  },
  grows: { table, analyze: 'ANALYZE device, event, device_count' },
};
