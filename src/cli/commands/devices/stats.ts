import { paging } from '../../../contract/limits.ts';
import { type DeviceStatus, type DeviceType, deviceStatuses, deviceTypes } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { statusStyle } from '../../terminal/style.ts';

const dayMs = 86_400_000;
/** Pages that are read to count by day: more would exceed the server's rate limit. */
const mostPages = 60;
const barCells = 40;

interface Count {
  readonly name: string;
  readonly count: number;
}

/** Counts devices by state, type and day. Reads the device list: the days cover its newest pages only. */
export const stats = command({
  flags: {
    days: { value: 'N', whole: { min: 1, max: 366 }, default: 14, help: 'number of days to count registrations for' },
  },
  examples: [
    { does: 'an overview', line: 'stats' },
    { does: 'for a script', line: 'stats --days 30 --json' },
  ],
  async run({ flags }, context) {
    const { out, registry, globals } = context;
    out.progress.say('Counting devices');
    const { pagination } = await registry.call('listDevices', { query: { size: 1 } });
    const byStatus = await counts(deviceStatuses, status => ({ status }), registry);
    const byType = await counts(deviceTypes, deviceType => ({ deviceType }), registry);
    const days = await registrations(registry, flags.days);
    out.progress.clear();
    const data = {
      total: pagination.total,
      byStatus: record(byStatus),
      byType: record(byType),
      registrations: days.list,
      registrationsComplete: days.complete,
    };
    if (globals.json) return out.document(data);
    await out.text(`${out.paint('bold', pagination.total === 1 ? '1 device' : `${pagination.total} devices`)}\n`);
    await bars(context, 'By state', byStatus, statusStyle);
    await bars(context, 'By type', byType, () => 'cyan');
    await bars(
      context,
      'Registered per day (UTC)',
      days.list.map(({ day, count }) => ({ name: day, count })),
      () => 'cyan',
    );
    if (!days.complete) out.notice(`Only the newest ${mostPages * paging.maxSize} devices were counted by day.`);
  },
});

async function counts<V extends string>(
  values: readonly V[],
  filter: (value: V) => { readonly status?: DeviceStatus; readonly deviceType?: DeviceType },
  registry: Client,
): Promise<Count[]> {
  const found: Count[] = [];
  for (const name of values) {
    const { pagination } = await registry.call('listDevices', { query: { ...filter(name), size: 1 } });
    found.push({ name, count: pagination.total });
  }
  return found;
}

const record = (list: readonly Count[]): Record<string, number> =>
  Object.fromEntries(list.map(({ name, count }) => [name, count]));

/** Registrations on each of the last days, today last. */
async function registrations(
  registry: Client,
  days: number,
): Promise<{ list: { day: string; count: number }[]; complete: boolean }> {
  const today = Math.floor(Date.now() / dayMs);
  const perDay = new Map<string, number>();
  for (let day = today - days + 1; day <= today; day++) perDay.set(new Date(day * dayMs).toISOString().slice(0, 10), 0);
  const list = () => [...perDay].map(([day, count]) => ({ day, count }));
  for (let page = 1; page <= mostPages; page++) {
    const answer = await registry.call('listDevices', { query: { page, size: paging.maxSize } });
    for (const { createdAt } of answer.list) {
      const day = createdAt.slice(0, 10);
      if (perDay.has(day)) perDay.set(day, perDay.get(day)! + 1);
    }
    const oldest = answer.list.at(-1)?.createdAt;
    if (page >= answer.pagination.totalPages || oldest === undefined || Date.parse(oldest) < (today - days + 1) * dayMs)
      return { list: list(), complete: true };
  }
  return { list: list(), complete: false };
}

async function bars(
  { out }: Context,
  title: string,
  rows: readonly Count[],
  style: (name: string) => Parameters<typeof out.paint>[0],
): Promise<void> {
  const most = Math.max(1, ...rows.map(row => row.count));
  const name = Math.max(...rows.map(row => row.name.length));
  const number = String(most).length;
  const room = Math.max(10, Math.min(barCells, out.io.columns - name - number - 6));
  const lines = rows.map(row => {
    const bar = '█'.repeat(row.count === 0 ? 0 : Math.max(1, Math.round((row.count / most) * room)));
    return `  ${row.name.padEnd(name)}  ${String(row.count).padStart(number)}  ${out.paint(style(row.name), bar)}`.trimEnd();
  });
  await out.text(`\n${out.paint('bold', title)}\n${lines.join('\n')}\n`);
}
