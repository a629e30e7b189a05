/** How many devices match a filter, as the cheapest expression that is exact. */
import type { DeviceFilter } from '../queries.ts';
import { type Conditions, namesOnly } from './conditions.ts';
import type { Readers } from './readers.ts';

/** A part of the statement of a list. */
export interface Total {
  /** Returns the column `total`, and what `read` takes. */
  readonly sql: string;
  /** Takes the first row of the result. */
  read(row: Readonly<Record<string, unknown>>): void;
}

/** The devices up to a number that match, which stay as many. */
interface Known {
  readonly upTo: number;
  readonly total: number;
}

/** Filters of each store whose totals are remembered. */
const remembered = 500;
const known = new WeakMap<Readers, Map<string, Known>>();

/** `conditions` are those of the filter; parameters may be added. */
export function totalOf(readers: Readers, filter: DeviceFilter, conditions: Conditions): Total {
  if (namesOnly(filter, 'deviceType', 'status', 'manufacturer'))
    return plain(`SELECT coalesce(sum(count), 0)::int8 AS total FROM device_count ${conditions.where}`);
  if (filter.userId !== undefined && namesOnly(filter, 'userId', 'deviceType', 'status', 'manufacturer'))
    return plain(`SELECT coalesce(
      (SELECT coalesce(sum(count), 0) FROM device_user_count ${conditions.where} HAVING EXISTS (
         SELECT FROM device_user_count WHERE user_id = ${conditions.value(filter.userId)})),
      (SELECT count(*) FROM device ${conditions.where}))::int8 AS total`);
  if (filter.keyword !== undefined && namesOnly(filter, 'keyword', 'deviceType', 'manufacturer'))
    return growing(readers, filter, conditions);
  return plain(`SELECT count(*) AS total FROM device ${conditions.where}`);
}

const plain = (sql: string): Total => ({ sql, read() {} });

/** What these filters name never changes, and devices are never removed: only those that were added since the last time are counted. */
function growing(readers: Readers, filter: DeviceFilter, conditions: Conditions): Total {
  const totals = known.get(readers) ?? new Map<string, Known>();
  known.set(readers, totals);
  const { keyword, deviceType, manufacturer } = filter;
  const name = JSON.stringify([keyword, deviceType, manufacturer]);
  const before = totals.get(name);
  const counted = `SELECT count(*) FROM device ${conditions.where}`;
  const added =
    before && `${before.total} + (${counted}${conditions.where === '' ? ' WHERE' : ' AND'} number > ${before.upTo})`;
  return {
    sql: `SELECT (${added ?? `(${counted})`})::int8 AS total, device AS "upTo" FROM head`,
    read({ total, upTo }) {
      totals.delete(name);
      totals.set(name, { total: total as number, upTo: upTo as number });
      if (totals.size > remembered) totals.delete(totals.keys().next().value!);
    },
  };
}
