import { hourMs } from '../../../src/contract/durations.ts';
import type { Statements } from '../../store/sqlite/statements.ts';
import { selectTallies } from '../../store/write/tallies.ts';
import type { DeviceStatistics, StatisticsQuery, Tally } from '../queries.ts';

/** Statistics by plain SQL: looks at every device. */
export function sqlStatistics(statements: Statements, query: StatisticsQuery): DeviceStatistics {
  const hours = statements.all<{ hour: number; count: number }>(
    `SELECT created_at / ${hourMs} AS hour, count(*) AS count FROM device WHERE created_at >= ? GROUP BY hour`,
    query.since,
  );
  const { codesExpiring, codesDue, unused } = statements.get<Record<'codesExpiring' | 'codesDue' | 'unused', number>>(
    `SELECT
       count(*) FILTER (WHERE status = 'INACTIVE' AND activation_code_expires_at > ?
         AND activation_code_expires_at <= ?) AS codesExpiring,
       count(*) FILTER (WHERE status = 'INACTIVE' AND activation_code_expires_at <= ?) AS codesDue,
       count(*) FILTER (WHERE status = 'ACTIVE' AND coalesce(last_used_at, activated_at) < ?) AS unused
     FROM device`,
    query.codesExpireAfter,
    query.codesExpireBy,
    query.codesDueBy,
    query.unusedSince,
  )!;
  return {
    counts: statements.all(
      'SELECT device_type AS deviceType, status, manufacturer, count FROM device_count WHERE count > 0',
    ),
    registrations: new Map(hours.map(({ hour, count }) => [hour * hourMs, count])),
    tallies: talliesIn(statements, query),
    codesExpiring,
    codesDue,
    unused,
  };
}

const tallies = selectTallies('?');

/** The tallies of statistics. */
export const talliesIn = (statements: Statements, { since }: StatisticsQuery): readonly Tally[] =>
  statements.all<Tally>(tallies, since);
