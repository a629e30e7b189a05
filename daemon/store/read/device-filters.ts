/** The filters and orders of device lists as data. Each engine makes its SQL from it, and SQLite the lookups of its lists in memory. */
import type { DeviceSort } from '../../../src/contract/values.ts';
import type { DeviceRecord } from '../../domain/device.ts';
import type { DeviceFilter } from '../queries.ts';
import { columnOf } from '../tables.ts';

type Name = keyof DeviceFilter;

interface FilterComparison {
  readonly field: keyof DeviceRecord;
  readonly is: 'one of' | '=' | '<' | '>=';
}

/** What a filter compares a field with; null if it is more than a comparison, which each engine finds in its own way. */
const comparisons: Readonly<Record<Name, FilterComparison | null>> = {
  deviceType: { field: 'deviceType', is: 'one of' },
  status: { field: 'status', is: 'one of' },
  manufacturer: { field: 'manufacturer', is: '=' },
  userId: { field: 'userId', is: '=' },
  serialNumber: { field: 'serialNumber', is: '=' },
  createdFrom: { field: 'createdAt', is: '>=' },
  createdTo: { field: 'createdAt', is: '<' },
  lastUsedBefore: null,
  codeExpiresBefore: { field: 'activationCodeExpiresAt', is: '<' },
  tags: null,
  proof: null,
  aaguid: null,
  advisory: null,
  keyword: null,
};
const names = Object.keys(comparisons) as Name[];

/** The filters that compare a field. */
export const fieldFilters = names.flatMap(name => {
  const comparison = comparisons[name];
  return comparison ? [{ name, ...comparison, column: columnOf(comparison.field) }] : [];
});

/** Filters by times that follow the clock, so that each request has another one. */
export const movingFilters = ['lastUsedBefore', 'codeExpiresBefore'] as const satisfies readonly Name[];
const timeFilters: readonly Name[] = ['createdFrom', 'createdTo', ...movingFilters];

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
