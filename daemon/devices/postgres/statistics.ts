import { hourMs } from '../../../src/contract/durations.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import { selectTallies } from '../../store/write/tallies.ts';
import type { DeviceStatistics, StatisticsQuery } from '../queries.ts';
import { rememberedTotal } from './totals.ts';

/** Counts of types, states, manufacturers and hours are kept; the others are remembered. One statement, and so of one moment. */
export async function readStatistics(readers: Readers, query: StatisticsQuery): Promise<DeviceStatistics> {
  const { since, codesExpireAfter, codesExpireBy, codesDueBy, unusedSince } = query;
  const values: unknown[] = [since / hourMs];
  const expired = (before: number, use: string) =>
    rememberedTotal(readers, { status: ['INACTIVE'], codeExpiresBefore: before }, values, { use });
  const totals = [
    rememberedTotal(readers, { status: ['ACTIVE'], lastUsedBefore: unusedSince }, values),
    expired(codesExpireBy + 1, 'by'),
    expired(codesExpireAfter + 1, 'after'),
    expired(codesDueBy + 1, 'due'),
  ];
  const { rows } = await readers.runOnce(
    `SELECT
       (SELECT coalesce(json_agg(json_build_object('deviceType', device_type, 'status', status, 'manufacturer', manufacturer, 'count', count)), '[]')
          FROM device_count WHERE count > 0) AS counts,
       (SELECT coalesce(json_agg(json_build_array(hour, count)), '[]') FROM registration_count WHERE hour >= $1) AS hours,
       (SELECT coalesce(json_agg(tallies), '[]') FROM (${selectTallies(`($1::int8 * ${hourMs})`)}) AS tallies) AS tallies,
       json_build_array(${totals.map(({ sql }) => `(SELECT to_json(counted) FROM (${sql}) AS counted)`).join(', ')}) AS totals`,
    values,
  );
  const {
    counts,
    hours,
    tallies,
    totals: counted,
  } = rows[0] as unknown as {
    readonly counts: DeviceStatistics['counts'];
    readonly hours: readonly (readonly [hour: number, count: number])[];
    readonly tallies: DeviceStatistics['tallies'];
    readonly totals: readonly { readonly total: number }[];
  };
  for (const [i, total] of totals.entries()) total.read(counted[i]!);
  const [unused, by, after, codesDue] = counted.map(({ total }) => total) as [number, number, number, number];
  return {
    counts,
    registrations: new Map(hours.map(([hour, count]) => [hour * hourMs, count])),
    tallies,
    codesExpiring: by - after,
    codesDue,
    unused,
  };
}
