import { type DeviceStatus, deviceStatuses, deviceTypes } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { resultFlags } from '../../format.ts';
import { statusStyle } from '../../terminal/style.ts';

const barCells = 40;
/** Days that the statistics of the server cover. */
const mostDays = 30;

interface Count {
  readonly name: string;
  readonly count: number;
}

/** Counts devices by state, type, manufacturer and day: one request, whatever the size of the registry. */
export const stats = command({
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
    await out.text(`${out.paint('bold', found.total === 1 ? '1 device' : `${found.total} devices`)}\n`);
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
    const { codesExpiring, unused } = found;
    await out.text(
      `\n${out.paint('bold', 'To look at')}\n  ${codesExpiring} activation codes expire within 30 days\n  ${unused} active devices not used for 90 days\n`,
    );
  },
});

const countsOf = <V extends string>(counts: Readonly<Record<V, number>>, names: readonly V[]): Count[] =>
  names.map(name => ({ name, count: counts[name] }));

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
