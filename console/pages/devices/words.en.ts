/** The words of the list of devices in English. */
import { grouped } from '../../text/numbers.ts';

const s = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  title: 'Devices',
  search: 'Search',
  searchHint: 'part of an id or serial number',
  filters: 'Filters',
  applied: 'Filters that apply',
  filter: {
    keyword: 'Search',
    status: 'State',
    deviceType: 'Type',
    proof: 'Proof',
    tag: 'Tag',
    manufacturer: 'Manufacturer (exact)',
    userId: 'User (exact)',
    serialNumber: 'Serial number (exact)',
    aaguid: 'AAGUID',
    advisory: 'Advisory',
    createdFrom: 'Registered from',
    createdTo: 'Registered until',
    lastUsedBefore: 'Unused since',
    codeExpiresBefore: 'Code expires before',
  },
  removeFilter: (name: string) => `Remove the filter ${name}`,
  column: {
    device: 'Device',
    serial: 'Serial number',
    type: 'Type',
    manufacturer: 'Manufacturer',
    model: 'Model',
    state: 'State',
    user: 'User',
    registered: 'Registered',
    used: 'Last used',
    proof: 'Proof',
    tags: 'Tags',
  },
  total: (count: number) => s(count, 'device'),
  selected: (count: number, total: number) => `${grouped(count)} of ${s(total, 'device')} selected`,
  allSelected: (total: number) => `All ${s(total, 'matching device')} selected`,
  select: (id: string) => `Select ${id}`,
  selectPage: 'Select all on this page',
  selectAll: (total: number) => `Select all ${grouped(total)} matching`,
  clear: 'Clear selection',
  changes: (count: number) => `${s(count, 'other device')} changed: show`,
  empty: 'No device matches.',
  export: (format: string) => `Export ${format}`,
  exporting: 'Exporting …',
};

/** What the list has as words, in each language. */
export type ListWords = typeof en;
