/** How many devices match a filter, as the cheapest expression that is exact. */

import { Conditions } from '../../store/postgres/conditions.ts';
import type { Readers } from '../../store/postgres/readers.ts';
import { namesOnly } from '../filters.ts';
import type { DeviceFilter } from '../queries.ts';
import { marked, markFields, marksOf, presentConditions } from './conditions.ts';
import { isSelective } from './keyword.ts';
import { type FilterTotal, type Moment, movingOf, nameOf, sinceThen, toRemember } from './remembered.ts';
import { isBroad } from './search.ts';

/** A part of a statement. */
interface Total {
  /** Returns a row with the column `total`, and with `moment`, which `read` takes. */
  readonly sql: string;
  /** Takes the row. */
  read(row: Readonly<Record<string, unknown>>): void;
  /** Source of the rows of a page if few devices match. Its tables precede `sql`, which may use them. */
  readonly few?: Few | undefined;
}

/** The common tables `hits` and `few`: the numbers of the matches, and how many they are, if they are few. */
export interface Few {
  readonly tables: (where: string) => string;
  /** True if all matches are in `hits`. */
  readonly areAll: string;
}

const upTo = (most: number): Few => ({
  tables: where => `hits AS MATERIALIZED (SELECT number FROM device ${where} LIMIT ${most + 1}),
    few AS MATERIALIZED (SELECT count(*) AS total FROM hits)`,
  areAll: `(SELECT total <= ${most} FROM few)`,
});

/** Matches of a keyword that are looked up once, for the total and the page. So few do not justify a longer statement. */
const mostHits = 1000;
/** Matches of marks and times that are sorted for a page, where no index has both the filter and the order. */
const mostSorted = 50_000;

/** Filters of each store whose totals are remembered. */
const most = 500;
const totals = new WeakMap<Readers, Map<string, FilterTotal>>();

/** How a total is found. */
interface TotalOptions {
  /** Keeps totals apart whose bounds are far from each other. */
  readonly use?: string;
  /** Whether the page may take its rows from `few`. */
  readonly looksUp?: boolean;
  /** The total is null, and what is remembered of it forgotten, if this condition beside the row of `head` is not true. */
  readonly given?: string | undefined;
  /** Whether the total is null, and forgotten, if what has changed is not known: a statement that can count all takes longer to plan. */
  readonly mayBeNull?: boolean;
}

/** `values`: those that the statement already has; parameters are added. */
export function totalOf(readers: Readers, filter: DeviceFilter, values: unknown[], options: TotalOptions): Total {
  const isKind = namesOnly(filter, 'userId', 'deviceType', 'status', 'manufacturer');
  if (filter.serialNumber === undefined && !isKind && !isBroad(filter))
    return rememberedTotal(readers, filter, values, options);
  const conditions = presentConditions(filter, values);
  const counted = `SELECT count(*) FROM device ${conditions.where}`;
  if (!isKind) return plain(counted, options);
  const kinds = (table: string) => `SELECT coalesce(sum(count), 0) FROM ${table} ${conditions.where}`;
  if (filter.userId === undefined) return plain(kinds('device_count'), options);
  const hasMany = `EXISTS (SELECT FROM device_key_count WHERE user_key = ${conditions.value(filter.userId)})`;
  return plain(`SELECT CASE WHEN ${hasMany} THEN (${kinds('device_key_count')}) ELSE (${counted}) END`, options);
}

const momentNow = `json_build_object('devices', device, 'event', event, 'mac', mac,
  'at', (extract(epoch FROM now()) * 1000)::int8) AS moment`;
const statementOf = (total: string, { given = 'true' }: TotalOptions) =>
  `SELECT CASE WHEN ${given} THEN (${total})::int8 END AS total, ${momentNow} FROM head`;
const plain = (sql: string, options: TotalOptions): Total => ({ sql: statementOf(sql, options), read() {} });

/** All matches are counted the first time; later, what has changed since the last time. */
export function rememberedTotal(
  readers: Readers,
  filter: DeviceFilter,
  values: unknown[],
  options: TotalOptions = {},
): Total {
  const { use = '', looksUp = false, mayBeNull = false } = options;
  const known = totals.get(readers) ?? new Map<string, FilterTotal>();
  totals.set(readers, known);
  const name = `${use}${nameOf(filter)}`;
  const before = known.get(name);
  const counted = () => `(${countAll(filter, values)})`;
  const few = looksUp ? fewOf(filter, before) : undefined;
  const expression = (): string => {
    // The page looks few matches of a keyword up each time.
    if (few && (!before || isSelective(filter)))
      return `CASE WHEN ${few.areAll} THEN (SELECT total FROM few) ELSE ${counted()} END`;
    const otherwise = () => (mayBeNull ? 'NULL' : counted());
    return (before && sinceThen(before, filter, values, otherwise)) ?? counted();
  };
  return {
    few,
    sql: statementOf(expression(), options),
    read(row) {
      const { total, moment } = row as unknown as { readonly total: number | null; readonly moment: Moment };
      const remembered = total === null ? null : toRemember(filter, total, moment);
      known.delete(name);
      if (remembered) known.set(name, remembered);
      if (known.size > most) known.delete(known.keys().next().value!);
    },
  };
}

function fewOf(filter: DeviceFilter, before: FilterTotal | undefined): Few | undefined {
  if (isSelective(filter)) return (before?.total ?? 0) <= mostHits ? upTo(mostHits) : undefined;
  const isSorted = movingOf(filter) !== undefined || marksOf(filter).length > 0;
  return isSorted && before && before.total <= mostSorted ? upTo(mostSorted) : undefined;
}

function countAll(filter: DeviceFilter, values: unknown[]): string {
  const [marks, ...others] = marksOf(filter);
  if (marks && others.length === 0 && namesOnly(filter, ...markFields))
    return `SELECT count(*) FROM (${marked(new Conditions(values), marks)}) AS marked`;
  return `SELECT count(*) FROM device ${presentConditions(filter, values).where}`;
}
