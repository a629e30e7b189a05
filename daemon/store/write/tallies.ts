/** How many devices have a value in common. Kept with the rows, so that figures need no look at every device. */
import { dayMs } from '../../../src/contract/durations.ts';
import { countedTags, type DeviceStatus, statisticsRange } from '../../../src/contract/values.ts';

/** The state of a device after an entry, and the one before. */
export const moves: Readonly<Record<string, { readonly to: DeviceStatus; readonly from?: DeviceStatus }>> = {
  DEVICE_REGISTERED: { to: 'INACTIVE' },
  DEVICE_ACTIVATED: { to: 'ACTIVE', from: 'INACTIVE' },
  DEVICE_LOCKED: { to: 'LOCKED', from: 'ACTIVE' },
  DEVICE_UNLOCKED: { to: 'ACTIVE', from: 'LOCKED' },
  // Its details name the state before.
  DEVICE_DEACTIVATED: { to: 'DEACTIVATED' },
};

/** Selects the tallies of statistics. `since`: the first day, an expression in milliseconds since 1970. */
export const selectTallies = (since: string): string => `
  SELECT subject, value, status, count FROM tally WHERE subject = 'day' AND CAST(value AS INTEGER) >= ${since} / ${dayMs}
  UNION ALL SELECT tally.subject, tally.value, status, count FROM tally JOIN (
    SELECT subject, value, row_number() OVER (PARTITION BY subject ORDER BY total DESC, value) AS place FROM (
      SELECT subject, value, sum(count) AS total FROM tally WHERE subject <> 'day' GROUP BY subject, value HAVING sum(count) > 0) AS totals
    ) AS ranked ON ranked.subject = tally.subject AND ranked.value = tally.value
  WHERE place <= ${statisticsRange.values} AND count > 0`;

/** The names of the counted tags, in SQL. */
export const countedTagList = countedTags.map(tag => `'${tag}'`).join(', ');

const names = Object.keys(moves);
const inCase = (key: 'to' | 'from', rest: string) =>
  `CASE type ${names.map(type => (moves[type]![key] ? `WHEN '${type}' THEN '${moves[type]![key]}'` : '')).join(' ')} ${rest} END`;

/** How an engine writes what the statements here need. */
export interface TallyDialect {
  /** The state before, in the details of an entry. */
  readonly before: string;
  readonly lineBreak: string;
  /** Selects name, value and status for each counted tag of a device, and value and status for each advisory. */
  readonly tags: string;
  readonly advisories: string;
}

/** Selects what the entries of `table` add to the days. */
export const daysOf = (table: string, { before }: Pick<TallyDialect, 'before'>): string => `
  SELECT 'day' AS subject, CAST(at / ${dayMs} AS TEXT) AS value, status, CAST(sum(by) AS BIGINT) AS count FROM (
    SELECT at, ${inCase('to', '')} AS status, 1 AS by FROM ${table} WHERE type IN (${names.map(type => `'${type}'`).join(', ')})
    UNION ALL SELECT at, ${inCase('from', `WHEN 'DEVICE_DEACTIVATED' THEN ${before}`)}, -1 FROM ${table}
      WHERE type IN (${names.map(type => `'${type}'`).join(', ')})) AS moved
  WHERE status IS NOT NULL GROUP BY 1, 2, 3 HAVING sum(by) <> 0`;

/** Selects all tallies from the rows. */
const tallied = (dialect: TallyDialect): string => `
  SELECT 'model' AS subject, manufacturer || ${dialect.lineBreak} || model AS value, status, count(*) AS count FROM device GROUP BY 1, 2, 3
  UNION ALL SELECT name, value, status, count(*) FROM (${dialect.tags}) AS tags GROUP BY 1, 2, 3
  UNION ALL SELECT 'advisory', value, status, count(*) FROM (${dialect.advisories}) AS advisories GROUP BY 1, 2, 3
  UNION ALL SELECT subject, value, status, count FROM (${daysOf('event', dialect)}) AS days`;

/** Makes all tallies again. */
export const makeTallies = (dialect: TallyDialect): string =>
  `INSERT INTO tally (subject, value, status, count) ${tallied(dialect)};`;

/** Returns a text for each tally that does not agree with the rows. */
export const tallyFault = (dialect: TallyDialect): string => `
  SELECT 'the tally of ' || subject || ' ' || value || ' ' || status || ' is ' || sum(kept) || ', it should be ' || sum(found)
  FROM (SELECT subject, value, status, count AS kept, 0 AS found FROM tally
        UNION ALL SELECT subject, value, status, 0, count FROM (${tallied(dialect)}) AS tallied) AS tallies
  GROUP BY subject, value, status HAVING sum(kept) <> sum(found)`;
