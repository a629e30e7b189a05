/** The words of the list of devices. */
import { grouped } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';

const s = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

const en = {
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
/** The words of the list, in the language of the person. */
export const listWords = dictionary(en, async () => (await import('./words.de.ts')).de);
