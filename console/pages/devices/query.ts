/** Query of the list. The address holds it under the names that the interface has for its filters. */
import { type DeviceFilterName, deviceFilters, filtersOfKind } from '../../../src/contract/device-filters.ts';
import type { DeviceListItem } from '../../../src/contract/device-shapes.ts';
import type { ProofGrade } from '../../../src/contract/key-values.ts';
import { searchWords } from '../../../src/contract/search-words.ts';
import type { DeviceSort, DeviceStatus, DeviceType } from '../../../src/contract/values.ts';
import type { ExportFilter } from '../../api/export.ts';
import type { Data, Input } from '../../api/request.ts';
import { pageIn } from '../../parts/pager.tsx';
import { type Order, orderIn } from '../../parts/sort.tsx';
import { linkTo, place } from '../../router.ts';

/** A page of devices. */
export type DeviceList = Data<'listDevices'>;
/** A device in the list. */
export type Device = DeviceListItem;

/** Filters by a set of values. */
export const choices = {
  status: deviceFilters.status.values,
  deviceType: deviceFilters.deviceType.values,
  proof: deviceFilters.proof.values,
} as const;
/** Filters by a text, apart from the search, which has a field of its own. */
export const texts = [...filtersOfKind('tag'), ...filtersOfKind('text').filter(name => name !== 'search')];
/** Filters by a time: in the address a date, or an instant in ISO 8601. */
export const times = filtersOfKind('time');

/** Name of a filter by a set of values. */
export type ChoiceName = keyof typeof choices;
/** Name of a filter in the address. */
export type FilterName = DeviceFilterName;
const filterNames = Object.keys(deviceFilters) as FilterName[];

/** The filters of an address, for a request. A value that is not valid is sent as it is: the daemon names it in its refusal. */
export function filterOf(query: URLSearchParams): ExportFilter {
  const filter: Record<string, unknown> = {};
  for (const name of filterNames) {
    const value = query.get(name);
    // A prefix alone: its word is not typed yet.
    if (!value || (name === 'search' && searchWords(value).length === 0)) continue;
    if (name === 'tag') filter[name] = query.getAll(name);
    else filter[name] = (times as readonly string[]).includes(name) ? instantOf(name, value) : value;
  }
  return filter as ExportFilter;
}

/** The request for the page of devices that an address names. */
export function listRequest(query: URLSearchParams): Input<'listDevices'> {
  const { sortBy, descending } = sortOf(query);
  const sortOrder = descending ? 'desc' : 'asc';
  return { query: { ...filterOf(query), ...pageIn(query), sortBy, sortOrder } };
}

/** The order of the list; the newest devices come first if the address names none. */
export function sortOf(query: URLSearchParams): Order & { readonly sortBy: DeviceSort } {
  const { sortBy, descending } = orderIn(query, 'createdAt');
  // Two names of one order.
  return { sortBy: sortBy === 'createTime' ? 'createdAt' : (sortBy as DeviceSort), descending };
}

/** The filters of an address alone: what they select does not depend on page and order. */
export function filterText(query: URLSearchParams): string {
  const filter = new URLSearchParams();
  for (const name of filterNames) for (const value of query.getAll(name)) if (value) filter.append(name, value);
  return filter.toString();
}

/** Filters of an address, one entry each; a filter by a set is one entry. */
export function filtersIn(query: URLSearchParams): readonly { readonly name: FilterName; readonly value: string }[] {
  return filterNames.flatMap(name =>
    query
      .getAll(name)
      .filter(Boolean)
      .map(value => ({ name, value })),
  );
}

/** The address of the page after a change of its query. It begins at the first page unless `page` is changed. Empty values are left out. */
export function addressWith(
  query: URLSearchParams,
  change: Readonly<Record<string, string | readonly string[]>>,
): string {
  const next = new URLSearchParams(query);
  next.delete('page');
  for (const [name, value] of Object.entries(change)) {
    next.delete(name);
    for (const each of typeof value === 'string' ? [value] : value) if (each) next.append(name, each);
  }
  return linkTo(place.peek().path[0] ?? 'devices', next);
}

/** The values that a filter by a set has in an address. */
export const chosenIn = (
  query: URLSearchParams,
  name: ChoiceName,
): readonly (DeviceStatus | DeviceType | ProofGrade)[] =>
  (query.get(name)?.split(',').filter(Boolean) ?? []) as (DeviceStatus | DeviceType | ProofGrade)[];

const dateOnly = /^\d{4}-\d\d-\d\d$/;

/** A date means its first moment in local time; at the end of a range it includes the day. */
function instantOf(name: string, value: string): Date | string {
  const date = dateOnly.test(value) ? new Date(`${value}T00:00`) : new Date(value);
  if (Number.isNaN(date.getTime())) return value;
  if (name === 'createdTo' && dateOnly.test(value)) date.setDate(date.getDate() + 1);
  return date;
}
