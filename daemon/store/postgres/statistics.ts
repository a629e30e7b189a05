import type { DeviceStatistics, StatisticsQuery } from '../queries.ts';
import { hourMs } from './draft.ts';
import type { Readers } from './readers.ts';

/** Everything in one statement, and so of one moment. */
const sql = `SELECT
  (SELECT coalesce(json_agg(json_build_object('deviceType', device_type, 'status', status, 'manufacturer', manufacturer, 'count', count)), '[]')
     FROM device_count WHERE count > 0) AS counts,
  (SELECT coalesce(json_agg(json_build_array(hour, count)), '[]') FROM registration_count WHERE hour >= $1) AS hours,
  (SELECT count(*) FROM device WHERE status = 'INACTIVE' AND activation_code_expires_at > $2
     AND activation_code_expires_at <= $3) AS "codesExpiring",
  (SELECT count(*) FROM device WHERE status = 'ACTIVE' AND coalesce(last_used_at, activated_at) < $4) AS unused`;

/** Counts of types, states, manufacturers and hours are kept; the two others are counted. */
export async function readStatistics(readers: Readers, query: StatisticsQuery): Promise<DeviceStatistics> {
  const { since, codesExpireAfter, codesExpireBy, unusedSince } = query;
  const { rows } = await readers.runOnce(sql, [since / hourMs, codesExpireAfter, codesExpireBy, unusedSince]);
  const { counts, hours, codesExpiring, unused } = rows[0] as unknown as {
    readonly counts: DeviceStatistics['counts'];
    readonly hours: readonly (readonly [hour: number, count: number])[];
    readonly codesExpiring: number;
    readonly unused: number;
  };
  return {
    counts,
    registrations: new Map(hours.map(([hour, count]) => [hour * hourMs, count])),
    codesExpiring,
    unused,
  };
}
