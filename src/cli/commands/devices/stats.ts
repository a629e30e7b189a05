import { type DeviceStatus, deviceStatuses, deviceTypes } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import { counted, count as grouped } from '../../count.ts';
import { command } from '../../define.ts';
import { resultFlags } from '../../format.ts';
import { statusStyle } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { shorten, width } from '../../terminal/width.ts';

/** Cells of the longest bar. */
const mostBar = 60;
/** Cells that a name keeps, however narrow the terminal is. */
const leastName = 16;
/** Before and between name, number and bar. */
const spaces = 6;
/** Days that the statistics of the server cover. */
const mostDays = 30;

interface Count {
  readonly name: string;
  readonly count: number;
}

/** Counts devices by state, type, manufacturer and day: one request, whatever the size of the registry. */
export const stats = command({
  isPaged: true,
  flags: {
    ...resultFlags,
    days: {
      value: 'N',
      whole: { min: 1, max: mostDays },
      default: 14,
      help: 'number of days to count registrations for',
    },
  },
  examples: [
    { does: 'an overview', line: 'stats' },
    { does: 'for a script', line: 'stats --days 30 --json' },
  ],
  async run({ flags }, context) {
    const { out, registry, globals } = context;
    const found = await registry.call('statistics');
    const days = found.registrations.perDay
      .slice(-flags.days)
      .map(({ start, count }) => ({ day: start.slice(0, 10), count }));
    if (globals.json)
      return out.document({
        ...found,
        registrations: days,
        registrationsComplete: true,
        registrationsPerHour: found.registrations.perHour,
      });
    await out.text(`${out.paint('bold', counted(found.total, 'device'))}\n`);
    await bars(context, 'By state', countsOf(found.byStatus, deviceStatuses), name =>
      statusStyle(name as DeviceStatus),
    );
    await bars(context, 'By type', countsOf(found.byType, deviceTypes), () => 'cyan');
    const manufacturers = found.byManufacturer.map(({ manufacturer, count }) => ({ name: manufacturer, count }));
    if (manufacturers.length > 0) await bars(context, 'By manufacturer', manufacturers, () => 'cyan');
    await bars(
      context,
      'Registered per day (UTC)',
      days.map(({ day, count }) => ({ name: day, count })),
      () => 'cyan',
    );
    await out.text(`\n${out.paint('bold', 'To look at')}\n${lookedAt(found)}`);
  },
});

/** What may need work, without bars: the figures have nothing in common. */
const lookedAt = ({ codesExpiring, unused }: { readonly codesExpiring: number; readonly unused: number }): string =>
  `  codes that expire in 30 days  ${grouped(codesExpiring)}\n  ACTIVE, unused for 90 days    ${grouped(unused)}\n`;

const countsOf = <V extends string>(counts: Readonly<Record<V, number>>, names: readonly V[]): Count[] =>
  names.map(name => ({ name, count: counts[name] }));

type Style = Parameters<Context['out']['paint']>[0];

/** Counts with bars as wide as the terminal has room for; without a terminal there are no bars. */
async function bars(
  { out }: Context,
  title: string,
  rows: readonly Count[],
  style: (name: string) => Style,
): Promise<void> {
  const { columns } = out.io;
  const number = Math.max(...rows.map(row => grouped(row.count).length));
  const names = rows.map(row => shorten(safe(row.name), Math.max(leastName, Math.floor(columns / 3)), 'end'));
  const widest = Math.max(...names.map(width));
  const room = Number.isFinite(columns) ? Math.min(mostBar, columns - widest - number - spaces) : 0;
  const most = Math.max(1, ...rows.map(row => row.count));
  const lines = rows.map(({ name, count }, at) => {
    const start = `  ${names[at]}${' '.repeat(widest - width(names[at]!))}  ${grouped(count).padStart(number)}`;
    const cells = count === 0 || room <= 0 ? 0 : Math.max(1, Math.round((count / most) * room));
    return cells === 0 ? start : `${start}  ${out.paint(style(name), '█'.repeat(cells))}`;
  });
  await out.text(`\n${out.paint('bold', title)}\n${lines.join('\n')}\n`);
}
