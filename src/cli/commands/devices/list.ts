import type { QueryOf } from '../../../contract/define.ts';
import type { DeviceListItem } from '../../../contract/devices.ts';
import type { Routes } from '../../../contract/routes.ts';
import { deviceFields, sortFields, statuses, types } from '../../choices.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import { given } from '../../given.ts';
import { csvFlag } from '../../globals.ts';
import { statusStyle } from '../../terminal/style.ts';
import type { Column } from '../../terminal/table.ts';
import { safe, safeJson } from '../../terminal/text.ts';
import { relative } from '../../terminal/when.ts';
import { allDevices } from './all-devices.ts';

type Query = Partial<QueryOf<Routes['listDevices']>>;

export const list = command({
  name: 'list',
  summary: 'list devices',
  description:
    'A page, or with --all every device, streamed page by page. What --csv writes, register --file reads. With --all and --json each device is a line of its own.',
  flags: {
    type: { value: 'TYPE', choices: types, help: 'only this type' },
    status: { value: 'STATUS', choices: statuses, help: 'only devices in this state' },
    keyword: { value: 'TEXT', short: 'k', help: 'part of a deviceId or serial number, in any case' },
    manufacturer: { value: 'NAME', help: 'only of this manufacturer (the whole name)' },
    user: { value: 'USER', help: 'only those bound to this user' },
    page: { value: 'N', whole: { min: 1 }, help: 'page, counted from 1' },
    size: { value: 'N', whole: { min: 1 }, help: 'devices per page, at most 100 (20; with --all 100)' },
    sort: { value: 'FIELD', choices: sortFields, help: 'order by this field' },
    order: { value: 'ORDER', choices: ['asc', 'desc'], help: 'ascending or descending' },
    all: { help: 'every page' },
    ...csvFlag,
  },
  examples: [
    { does: 'the newest devices', line: 'list' },
    { does: 'every locked key, as CSV', line: 'list --status LOCKED --all --csv' },
    { does: 'bare ids for a pipe', line: 'list --user alice --all --quiet' },
  ],
  async run({ flags }, context) {
    const query = given<Query>({
      deviceType: flags.type as Query['deviceType'],
      status: flags.status as Query['status'],
      keyword: flags.keyword,
      manufacturer: flags.manufacturer,
      userId: flags.user,
      sortBy: flags.sort as Query['sortBy'],
      sortOrder: flags.order as Query['sortOrder'],
    });
    if (context.globals.json && flags.csv) throw usage('--json and --csv exclude each other');
    if (!flags.all) return page(context, given<Query>({ ...query, page: flags.page, size: flags.size }), flags.csv);
    if (flags.page !== undefined) throw usage('--all and --page exclude each other');
    return all(context, query, flags.size, flags.csv);
  },
});

async function page(context: Context, query: Query, csv: boolean): Promise<void> {
  const { out, globals } = context;
  const data = await context.registry.call('listDevices', { query });
  if (globals.json) return out.document(data);
  if (csv) return out.csv(deviceFields, data.list);
  if (globals.quiet) return ids(context, data.list);
  const { page, totalPages, total } = data.pagination;
  if (data.list.length === 0) {
    out.notice(total === 0 ? 'No device matches.' : `Page ${page} is past the last one (${totalPages}).`);
    return;
  }
  await out.table(deviceColumns(), data.list);
  if (totalPages > 1)
    out.notice(`Page ${page} of ${totalPages} (${total} devices). More: --page ${page + 1}, or --all`);
}

async function all(context: Context, query: Query, size: number | undefined, csv: boolean): Promise<void> {
  const { out, globals } = context;
  let first = true;
  for await (const { list } of allDevices(context.registry, query, size)) {
    if (globals.json) await out.text(list.map(device => `${safeJson(device)}\n`).join(''));
    else if (csv) await out.csv(deviceFields, list, first);
    else if (globals.quiet) await ids(context, list);
    else if (list.length) await out.table(deviceColumns(), list, first);
    if (first && list.length === 0 && !globals.json && !csv) out.notice('No device matches.');
    first = false;
  }
}

const ids = ({ out }: Context, devices: readonly DeviceListItem[]): Promise<void> =>
  out.text(devices.map(device => `${safe(device.deviceId)}\n`).join(''));

function deviceColumns(): Column<DeviceListItem>[] {
  return [
    { title: 'DEVICE', value: device => device.deviceId },
    { title: 'TYPE', value: device => device.deviceType, drop: 2 },
    { title: 'SERIAL', value: device => device.serialNumber, shorten: 'middle', least: 16 },
    { title: 'STATUS', value: device => device.status, style: device => statusStyle(device.status) },
    { title: 'USER', value: device => device.userId, shorten: 'end', drop: 1 },
    { title: 'MANUFACTURER', value: device => device.manufacturer, shorten: 'end', drop: 5 },
    { title: 'MODEL', value: device => device.model, shorten: 'end', drop: 6 },
    { title: 'CODE', value: device => (device.status === 'INACTIVE' ? device.activationCode : null), drop: 4 },
    { title: 'REGISTERED', value: device => relative(device.createdAt), drop: 3 },
  ];
}
