/** Totals that were counted at one moment, and how they have changed since. */

import { createHash } from 'node:crypto';
import { keptEntries, recentMs } from '../../store/postgres/list-tables.ts';
import { fieldFilters, fieldsOf, movingFilters } from '../filters.ts';
import type { DeviceFilter } from '../queries.ts';
import { deviceConditions, presentConditions } from './conditions.ts';

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
export interface FilterTotal {
  readonly moment: Moment;
  readonly total: number;
  /** The value of the field that `movingOf` names. */
  readonly until: number | undefined;
}

/** Milliseconds between two bounds, up to which the devices between them are counted rather than all. */
const longestStep = 7 * 86_400_000;

/** The field of a filter in which it can differ from the remembered one. */
export const movingOf = (filter: DeviceFilter) => movingFilters.find(field => filter[field] !== undefined);

/** The common part of filters whose totals follow from one another. */
export function nameOf(filter: DeviceFilter): string {
  const bound = movingOf(filter);
  const name = JSON.stringify(fieldsOf(filter).map(field => (field === bound ? [field] : [field, filter[field]])));
  // A search has all that its words have found.
  return filter.search === undefined ? name : createHash('sha256').update(name).digest('base64');
}

/** The total to remember; null if it can change without an entry in `device_before`, because its filter names too recent uses. */
export function toRemember(filter: DeviceFilter, total: number, moment: Moment): FilterTotal | null {
  if (filter.lastUsedBefore !== undefined && filter.lastUsedBefore > moment.at - 2 * recentMs) return null;
  const bound = movingOf(filter);
  return { moment, total, until: bound && filter[bound] };
}

/** The moment from which the changes of a filter are counted. */
type Start = Omit<FilterTotal, 'total'>;

/** Changes since a moment, in terms of a statement that also reads `head`. `null` if the bound has moved too far. */
export function changesSince({ until, moment }: Start, filter: DeviceFilter, values: unknown[]) {
  const bound = movingOf(filter);
  const step = bound === undefined ? 0 : filter[bound]! - until!;
  if (Math.abs(step) > longestStep) return null;
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const [event, devices] = [moment.event, moment.devices].map(value => `${parameter(value)}::int8`);
  return {
    ...{ step, devices },
    /** Whether all changes since the moment are still kept, and the journal contains the moment. */
    areKept: `head.event <= ${event} + ${keptEntries} AND EXISTS (SELECT FROM event WHERE id = ${event} AND mac = ${parameter(moment.mac)})`,
    /** The rows of `device_before` of devices that were there at the moment. */
    changed: `device_before WHERE event >= ${event} AND number <= ${devices}`,
    /** The condition for the devices between both bounds, which differ by `step`. */
    inStep: () => between(filter, step, values),
  };
}

/**
 * The present total, from a remembered one, as an expression beside the row of `head`. `otherwise`: its value if what has changed
 * is not known. `null` if the bound has moved too far.
 */
export function sinceThen(
  before: FilterTotal,
  filter: DeviceFilter,
  values: unknown[],
  otherwise: () => string,
): string | null {
  const changes = changesSince(before, filter, values);
  if (changes === null) return null;
  const { step, devices, areKept, changed, inStep } = changes;
  const bound = movingOf(filter);
  const then = deviceConditions(bound === undefined ? filter : { ...filter, [bound]: before.until }, values);
  const added = `SELECT count(*) FROM device ${then.and(`number > ${devices}`)}`;
  const present = `SELECT count(*) FROM ${rowsOf(`SELECT DISTINCT number FROM ${changed}`)} ${then.where}`;
  const earlier = `SELECT count(*) FROM (
    SELECT DISTINCT ON (number) * FROM ${changed} ORDER BY number, event) AS device ${then.where}`;
  const moved = step === 0 ? '' : ` ${step > 0 ? '+' : '-'} (SELECT count(*) FROM device ${inStep()})`;
  return `CASE WHEN ${areKept} THEN ${then.value(before.total)}::int8 + (${added}) + (${present}) - (${earlier})${moved}
    ELSE ${otherwise()} END`;
}

/** The present rows of these numbers, as the table `device`. Each is looked up: the planner would expect too many. */
export const rowsOf = (numbers: string): string => `(
    SELECT d.* FROM (${numbers}) AS c
    CROSS JOIN LATERAL (SELECT * FROM device WHERE device.number = c.number OFFSET 0) AS d) AS device`;

/** The condition for the devices between the remembered bound, which is `step` before that of the filter, and that of the filter. */
function between(filter: DeviceFilter, step: number, values: unknown[]): string {
  const bound = movingOf(filter)!;
  const conditions = presentConditions({ ...filter, [bound]: undefined }, values);
  const [low, high] = [filter[bound]! - Math.max(step, 0), filter[bound]! - Math.min(step, 0)];
  const [from, to] = [`>= ${conditions.value(low)}::int8`, `< ${conditions.value(high)}::int8`];
  const within = (column: string) => `${column} ${from} AND ${column} ${to}`;
  const compared = fieldFilters.find(({ name }) => name === bound);
  const inStep = compared
    ? within(compared.column)
    : `(${within('last_used_at')} OR last_used_at IS NULL AND ${within('activated_at')})`;
  return conditions.and(inStep);
}
