/** The filters and orders of device lists, as data. Each engine makes its SQL from it, and SQLite the lookups of its lists in memory. */
import {
  type DeviceFilterNameOf,
  deviceFilters,
  type FilterDescription,
  filtersOfKind,
} from '../../src/contract/device-filters.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { DeviceSort } from '../../src/contract/values.ts';
import { columnOf } from '../store/table.ts';
import { matchesProof } from './proof.ts';
import type { DeviceFilter } from './queries.ts';
import type { DeviceRow } from './records.ts';

type Name = keyof DeviceFilter;
/** A field of `DeviceRow`. */
type RowField<F extends keyof DeviceRow> = F;
/** The fields that filters compare. The rows of lists have each of them, so that `stillMatches` can look at it. */
type FilteredField = RowField<(typeof deviceFilters)[DeviceFilterNameOf<{ readonly field: string }>]['field']>;
const described = Object.entries<FilterDescription>(deviceFilters).map(
  ([name, description]) => [(name === 'tag' ? 'tags' : name) as Name, description] as const,
);
const names = described.map(([name]) => name);

/** The filters that compare a field. The others are more than a comparison: each engine finds them in its own way. */
export const fieldFilters = described.flatMap(([name, { kind, field, is }]) =>
  field === undefined
    ? []
    : [
        {
          name,
          field: field as FilteredField,
          is: kind === 'set' ? ('one of' as const) : (is ?? ('=' as const)),
          column: columnOf(field),
        },
      ],
);

/** The filter as engines compare it: names by their keys. */
export const keyedFilter = <F extends DeviceFilter>(filter: F): F =>
  filter.userId === undefined ? filter : { ...filter, userId: personKey(filter.userId) };

/** Filters by times that follow the clock, so that each request has another one. */
export const movingFilters = described.flatMap(([name, { moving }]) =>
  moving ? [name as DeviceFilterNameOf<{ readonly moving: true }>] : [],
);
const timeFilters = filtersOfKind('time');

/** The fields that a filter names. */
export const fieldsOf = (filter: DeviceFilter): readonly Name[] => names.filter(name => filter[name] !== undefined);

/** Whether the filter names nothing but these fields. */
export const namesOnly = (filter: DeviceFilter, ...fields: readonly Name[]): boolean =>
  names.every(name => filter[name] === undefined || fields.includes(name));

/** Whether a filter names nothing but fields whose combinations are counted: the number of matches needs no look at the devices. */
export const isCounted = (filter: DeviceFilter): boolean => namesOnly(filter, 'deviceType', 'status', 'manufacturer');

/** Whether a filter names a time. */
export const namesTime = (filter: DeviceFilter): boolean => timeFilters.some(name => filter[name] !== undefined);

/** The column of an order; null for that of creation. */
export const sortColumn = (sortBy: DeviceSort): string | null =>
  sortBy === 'deviceId' || sortBy === 'createTime' || sortBy === 'createdAt' ? null : columnOf(sortBy);

/**
 * Whether a device that was found by the filter still matches it, apart from a search. Ids and serial numbers do not change, so that
 * keywords still match.
 */
export const stillMatches = (row: DeviceRow, filter: DeviceFilter): boolean =>
  fieldFilters.every(({ name, field, is }) => filter[name] === undefined || compared[is](row[field], filter[name])) &&
  matchesProof(row.proof, filter) &&
  (filter.tags?.every(({ name, value }) => row.tags[name] === value) ?? true) &&
  (filter.lastUsedBefore === undefined || compared['<'](row.lastUsedAt ?? row.activatedAt, filter.lastUsedBefore));

const compared: Readonly<Record<(typeof fieldFilters)[number]['is'], (value: unknown, wanted: unknown) => boolean>> = {
  'one of': (value, wanted) => (wanted as readonly unknown[]).includes(value),
  '=': (value, wanted) => value === wanted,
  '<': (value, wanted) => value !== null && (value as number) < (wanted as number),
  '>=': (value, wanted) => value !== null && (value as number) >= (wanted as number),
};
