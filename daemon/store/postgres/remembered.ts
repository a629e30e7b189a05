/** Totals that were counted at one moment, and what became of them since. */
import type { DeviceFilter } from '../queries.ts';
import { deviceConditions, fieldsOf, presentConditions } from './conditions.ts';
import { keptEntries, recentMs } from './list-tables.ts';

/** A moment of the registry. */
export interface Moment {
  /** Number of devices. */
  readonly devices: number;
  /** The end of the journal. Its code tells whether a journal contains this moment: a failover can have undone it. */
  readonly event: number;
  readonly mac: string;
  /** The time of the server, in milliseconds since 1970. */
  readonly at: number;
}

/** The total of a filter at a moment. */
export interface Remembered {
  readonly moment: Moment;
  readonly total: number;
  /** The value of the field that `movingOf` names. */
  readonly until: number | undefined;
}

/** Times that follow the clock, so that each request has another one. */
const moving = ['lastUsedBefore', 'codeExpiresBefore'] as const;
/** Milliseconds between two bounds, up to which the devices between them are counted rather than all. */
const longestStep = 7 * 86_400_000;

/** The field of a filter in which it can differ from the remembered one. */
export const movingOf = (filter: DeviceFilter) => moving.find(field => filter[field] !== undefined);

/** What filters have in common whose totals follow from one another. */
export function nameOf(filter: DeviceFilter): string {
  const bound = movingOf(filter);
  return JSON.stringify(fieldsOf(filter).map(field => (field === bound ? [field] : [field, filter[field]])));
}

/** What is to be remembered of a total; null if it can change without a trace, because the last uses that it names are too recent. */
export function toRemember(filter: DeviceFilter, total: number, moment: Moment): Remembered | null {
  if (filter.lastUsedBefore !== undefined && filter.lastUsedBefore > moment.at - 2 * recentMs) return null;
  const bound = movingOf(filter);
  return { moment, total, until: bound && filter[bound] };
}

/** The present total, from a remembered one, as an expression beside the row of `head`. `counted`: the expression that counts all. */
export function sinceThen(before: Remembered, filter: DeviceFilter, values: unknown[], counted: string): string {
  const bound = movingOf(filter);
  const { until, total, moment } = before;
  const step = bound === undefined ? 0 : filter[bound]! - until!;
  if (Math.abs(step) > longestStep) return counted;
  const then = deviceConditions(bound === undefined ? filter : { ...filter, [bound]: until }, values);
  const [event, mac, devices] = [moment.event, moment.mac, moment.devices].map(value => then.value(value));
  const changed = `device_before WHERE event >= ${event}::int8 AND number <= ${devices}::int8`;
  const added = `SELECT count(*) FROM device ${then.and(`number > ${devices}::int8`)}`;
  const present = `SELECT count(*) FROM (
    SELECT d.* FROM (SELECT DISTINCT number FROM ${changed}) AS c
    CROSS JOIN LATERAL (SELECT * FROM device WHERE device.number = c.number OFFSET 0) AS d) AS device ${then.where}`;
  const earlier = `SELECT count(*) FROM (
    SELECT DISTINCT ON (number) * FROM ${changed} ORDER BY number, event) AS device ${then.where}`;
  return `CASE WHEN head.event <= ${event}::int8 + ${keptEntries} AND EXISTS (
      SELECT FROM event WHERE id = ${event} AND mac = ${mac})
    THEN ${then.value(total)}::int8 + (${added}) + (${present}) - (${earlier})${between(filter, step, values)}
    ELSE ${counted} END`;
}

/** The devices between the remembered bound and that of the filter, with a sign. */
function between(filter: DeviceFilter, step: number, values: unknown[]): string {
  const bound = movingOf(filter);
  if (bound === undefined || step === 0) return '';
  const conditions = presentConditions({ ...filter, [bound]: undefined }, values);
  const [low, high] = [filter[bound]! - Math.max(step, 0), filter[bound]! - Math.min(step, 0)];
  const [from, to] = [`>= ${conditions.value(low)}::int8`, `< ${conditions.value(high)}::int8`];
  const within = (column: string) => `${column} ${from} AND ${column} ${to}`;
  const inStep =
    bound === 'codeExpiresBefore'
      ? within('activation_code_expires_at')
      : `(${within('last_used_at')} OR last_used_at IS NULL AND ${within('activated_at')})`;
  return ` ${step > 0 ? '+' : '-'} (SELECT count(*) FROM device ${conditions.and(inStep)})`;
}
