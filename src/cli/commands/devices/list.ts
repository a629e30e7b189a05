import type { QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import type { Routes } from '../../../contract/routes.ts';
import { deviceListFields, deviceSorts, sortOrders } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import { command, definedFields } from '../../define.ts';
import { csvFlag, pageFlags } from '../../flags.ts';
import { statusStyle } from '../../terminal/style.ts';
import type { Column } from '../../terminal/table.ts';
import { safe, safeJson } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { allDevices } from './all-devices.ts';
import { filterFlags, filterOf } from './filter.ts';

type Query = Partial<QueryOf<Routes['listDevices']>>;

/** Lists devices: `GET /api/devices/list`, one page or all of them. */
export const list = command({
  description:
    'Shows one page, or with --all every device. register --file reads what --csv writes. With --all --json each device is one line.',
  flags: {
    ...filterFlags,
    ...pageFlags('devices'),
    sort: { value: 'FIELD', field: 'sortBy', choices: deviceSorts, help: 'sort by this field' },
    order: { value: 'ORDER', field: 'sortOrder', choices: sortOrders, help: 'sort order' },
    all: { help: 'all pages', conflicts: ['page'] },
    ...csvFlag,
  },
  examples: [
    { does: 'the newest devices', line: 'list' },
    { does: 'all locked keys, as CSV', line: 'list --status LOCKED --all --csv' },
    { does: 'only ids, for a pipe', line: 'list --user alice --all --quiet' },
    { does: 'what has not been used this year', line: 'list --status ACTIVE,LOCKED --last-used-before 2026-01-01' },
  ],
  async run({ flags }, context) {
    const query = definedFields<Query>({
      ...filterOf(flags),
      sortBy: flags.sort,
      sortOrder: flags.order,
    });
    if (!flags.all)
      return page(context, definedFields<Query>({ ...query, page: flags.page, size: flags.size }), flags.csv);
    return all(context, query, flags.size, flags.csv);
  },
});

async function page(context: Context, query: Query, csv: boolean): Promise<void> {
  const { out, globals } = context;
  const data = await context.registry.call('listDevices', { query });
  if (globals.json) return out.document(data);
  if (csv) return out.csv(deviceListFields, data.list);
  if (globals.quiet) return ids(context, data.list);
  const { page, totalPages, total } = data.pagination;
  if (data.list.length === 0) {
    out.notice(total === 0 ? 'No device matches.' : `Page ${page} is past the last one (${totalPages}).`);
    return;
  }
  await out.table(deviceColumns(), data.list);
  if (totalPages > 1)
    await out.prose(`Page ${page} of ${totalPages} (${total} devices). More: --page ${page + 1}, or --all`);
}

async function all(context: Context, query: Query, size: number | undefined, csv: boolean): Promise<void> {
  const { out, globals } = context;
  let first = true;
  let listed = 0;
  for await (const { list, total } of allDevices(context.registry, query, size)) {
    listed += list.length;
    // On a terminal the devices themselves show how far the list has come.
    if (!out.io.stdoutIsTerminal) out.progress.show('Listing', listed, total);
    if (globals.json) await out.text(list.map(device => `${safeJson(device)}\n`).join(''));
    else if (csv) await out.csv(deviceListFields, list, first);
    else if (globals.quiet) await ids(context, list);
    else if (list.length) await out.table(deviceColumns(), list, first);
    if (first && list.length === 0 && !globals.json && !csv) out.notice('No device matches.');
    first = false;
  }
}

const ids = ({ out }: Context, devices: readonly DeviceListItem[]): Promise<void> =>
  out.text(devices.map(device => `${safe(device.deviceId)}\n`).join(''));

/** Columns of a list of devices. */
export function deviceColumns(): Column<DeviceListItem>[] {
  return [
    { title: 'DEVICE', value: device => device.deviceId },
    { title: 'TYPE', value: device => device.deviceType, drop: 2 },
    { title: 'SERIAL', value: device => device.serialNumber, shorten: 'middle', least: 16 },
    { title: 'STATUS', value: device => device.status, style: device => statusStyle(device.status) },
    { title: 'USER', value: device => device.userId, shorten: 'end', drop: 1 },
    { title: 'MANUFACTURER', value: device => device.manufacturer, shorten: 'end', drop: 5 },
    { title: 'MODEL', value: device => device.model, shorten: 'end', drop: 6 },
    { title: 'CODE', value: device => (device.status === 'INACTIVE' ? device.activationCode : null), drop: 4 },
    { title: 'REGISTERED', value: device => localTime(device.createdAt), drop: 3 },
  ];
}
