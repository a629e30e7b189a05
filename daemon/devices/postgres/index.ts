/** Devices in PostgreSQL. */
import { hourMs } from '../../../src/contract/durations.ts';
import type { PostgresSubject } from '../../store/postgres/subject.ts';
import { column } from '../../store/postgres/tables.ts';
import { DeviceCounts } from '../counts.ts';
import { keyedFilter } from '../filters.ts';
import { devices as table } from '../tables.ts';
import { derived, faults } from './derived.ts';
import { listDevices } from './lists.ts';
import { scanDevices } from './scan.ts';
import { readStatistics } from './statistics.ts';

const addCounts = `INSERT INTO device_count (manufacturer, device_type, status, count)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
  ON CONFLICT (manufacturer, device_type, status) DO UPDATE SET count = device_count.count + excluded.count`;
const addHours = `INSERT INTO registration_count (hour, count) SELECT hour, count(*) FROM unnest($1::int8[]) AS n (hour) GROUP BY hour
  ON CONFLICT (hour) DO UPDATE SET count = registration_count.count + excluded.count`;

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
    if (added.length > 0) yield [addHours, [added.map(({ createdAt }) => Math.floor(createdAt / hourMs))]];
  },
  grows: { table, analyze: 'ANALYZE device, event, device_count' },
};
