import type { QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import type { Routes } from '../../../contract/routes.ts';
import { deviceSorts, proofColumn as proofField, sortOrders } from '../../../contract/values.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { everyDevice } from '../../framework/devices/all-devices.ts';
import { exportedText } from '../../framework/devices/export-stream.ts';
import { filterFlags, filterOf } from '../../framework/devices/filter.ts';
import { csvFields, deviceFields, tagNamesIn, tagNamesOf, withCells } from '../../framework/devices/tags.ts';
import { pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { withPersonNames } from '../../framework/persons.ts';
import { columnsOf, type ListLayout, pageQuery, presentPage, presentRows } from '../../framework/present-list.ts';
import { deviceColumns, type NamedDevice } from './columns.ts';

type Query = Partial<QueryOf<Routes['listDevices']>>;

/** Lists devices: `GET /api/devices/list`, one page or all of them. */
export const list = command({
  description:
    'Shows one page, or with --all every device. register --file can read the output of --csv. With --all and --json, each device is one line.',
  flags: {
    ...filterFlags,
    ...pageFlags('devices'),
    sort: { value: 'FIELD', field: 'sortBy', choices: deviceSorts, help: 'sort by this field (default: createdAt)' },
    order: {
      value: 'ORDER',
      field: 'sortOrder',
      choices: sortOrders,
      help: 'sort order (default: desc, the newest first)',
    },
    all: { help: 'every device instead of one page', conflicts: ['page'] },
    watch: {
      short: 'w',
      help: 'keep the list on the screen, and update it when a device changes',
      conflicts: ['all', 'json', 'csv', 'jq', 'quiet'],
    },
    ...listFlags([...deviceFields, 'name']),
  },
  examples: {
    'the newest devices': 'list',
    'all locked keys, as CSV': 'list --status LOCKED --all --csv',
    'some fields, as YAML': 'list --fields deviceId,serialNumber,status --output yaml',
    'serial numbers of locked keys': `list --jq '.list[] | select(.status == "LOCKED") | .serialNumber'`,
    'who has which key, by name': 'list --status ACTIVE --fields deviceId,userId,name',
    'the devices of a lot': 'list --tag lot=7',
    'the locked keys, as they change': 'list --status LOCKED --watch',
    'only ids, for a pipe': 'list --user alice --all --quiet',
    'keys without a valid proof': 'list --proof none,claimed,failed',
    'keys affected by a security advisory': 'list --advisory YSA-2024-03',
    'devices not used this year': 'list --status ACTIVE,LOCKED --last-used-before 2026-01-01',
  },
  async run({ flags }, context) {
    const query = definedFields({ ...filterOf(flags), sortBy: flags.sort, sortOrder: flags.order });
    const listing: ListLayout<DeviceListItem> = { fields: deviceFields, columns: deviceColumns(), id: 'deviceId' };
    const load = async () => {
      const page = await context.registry.call('listDevices', {
        query: { ...query, ...pageQuery(flags) },
      });
      return { ...page, list: await named(context, page.list) };
    };
    if (flags.watch) {
      const { watchList } = await import('./live-list.ts');
      const columns = (list: readonly DeviceListItem[]) => columnsOf(context.out, fitted(context, listing, list));
      return watchList(context, { columns, load });
    }
    if (flags.all) {
      const found = needsColumns(context, listing) ? await exportedColumns(context, filterOf(flags)) : null;
      return all(context, query, flags.limit, found === null ? listing : asCsv(context, listing, found));
    }
    const page = await load();
    const shaped = needsColumns(context, listing)
      ? asCsv(context, listing, dataColumnsOf(page.list))
      : fitted(context, listing, page.list);
    return presentPage(context, { ...page, list: rowsFor(context, page.list) }, shaped, {
      what: 'devices',
      none,
      all: '--all',
    });
  },
});

async function all(
  context: Context,
  query: Query,
  size: number | undefined,
  listing: ListLayout<DeviceListItem>,
): Promise<void> {
  const { out } = context;
  let shaped = listing;
  let first = true;
  let listed = 0;
  for await (const { list, total } of everyDevice(context, query, size)) {
    listed += list.length;
    // On a terminal the devices themselves show the progress of the list.
    if (!out.io.stdoutIsTerminal) out.progress.show('Listing', listed, total);
    if (first && list.length === 0 && !out.json && out.format !== 'csv') return out.notice(none);
    // The header belongs to the first page.
    const devices = await named(context, list);
    if (first) shaped = fitted(context, shaped, devices);
    if (first || list.length > 0) await presentRows(context, rowsFor(context, devices), shaped, first);
    first = false;
  }
}

/** The devices, with the names of their persons if the result shows them. */
const named = async ({ out, registry }: Context, list: readonly DeviceListItem[]): Promise<NamedDevice[]> =>
  out.fields.includes('name') || out.format === 'wide' ? withPersonNames(registry, list) : [...list];

/** The columns of a CSV that depend on its devices, as in an export. */
interface DataColumns {
  readonly tags: readonly string[];
  readonly hasProof: boolean;
}

/** Whether the result is CSV with such columns. */
const needsColumns = ({ out }: Context, { fields }: ListLayout<DeviceListItem>): boolean =>
  out.format === 'csv' && (out.fields.length > 0 ? out.fields : fields).includes('tags');

/** The columns of all matches: the header comes before the first page. */
async function exportedColumns(context: Context, filter: ReturnType<typeof filterOf>): Promise<DataColumns> {
  let header: string | null = null;
  // Read to its end: until then the next export would have to wait for it.
  for await (const text of exportedText(context, { ...filter, format: 'csv' }, null))
    header ??= text.slice(0, text.indexOf('\n'));
  return { tags: tagNamesIn(header ?? ''), hasProof: (header ?? '').trim().split(',').includes(proofField) };
}

const dataColumnsOf = (devices: readonly DeviceListItem[]): DataColumns => ({
  tags: tagNamesOf(devices),
  hasProof: devices.some(({ proof }) => proof),
});

/** A proof that `--fields` names always has its column. */
function asCsv(
  { out }: Context,
  listing: ListLayout<DeviceListItem>,
  { tags, hasProof }: DataColumns,
): ListLayout<DeviceListItem> {
  const usual = listing.fields.filter(field => hasProof || field !== proofField);
  return { ...listing, csv: csvFields(out.fields.length > 0 ? out.fields : usual, tags) };
}

const rowsFor = ({ out }: Context, devices: readonly DeviceListItem[]): readonly DeviceListItem[] =>
  out.format === 'csv' ? devices.map(device => withCells(device) as DeviceListItem) : devices;

/** The listing with the columns that fit these devices: most registries have no proofs. */
const fitted = (
  { out }: Context,
  listing: ListLayout<DeviceListItem>,
  devices: readonly NamedDevice[],
): ListLayout<DeviceListItem> => ({
  ...listing,
  columns: deviceColumns({
    wide: out.format === 'wide',
    withProof: devices.some(({ proof }) => proof),
    withName: devices.some(({ name }) => name),
  }),
});

const none = 'No device matches.';
