import { deviceStatuses, deviceTypes } from '../../../contract/values.ts';
import { counted, count as grouped } from '../../count.ts';
import { command } from '../../framework/define.ts';
import { type BarRow, bars } from '../../terminal/bars.ts';
import { statusStyle } from '../../terminal/style.ts';

/** Days that the statistics of the server cover. */
const mostDays = 30;

/** Counts devices by state, type, manufacturer and day: one request, whatever the size of the registry. */
export const stats = command({
  isPaged: true,
  flags: {
    days: {
      value: 'N',
      whole: { min: 1, max: mostDays },
      default: 14,
      help: 'number of days to count registrations for',
    },
  },
  examples: {
    'an overview': 'stats',
    'for a script': 'stats --days 30 --json',
  },
  async run({ flags }, context) {
    const { out, registry, globals } = context;
    const found = await registry.call('getStatistics');
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
    const screen = { columns: out.io.columns, paint: out.paint };
    const manufacturers = found.byManufacturer.map(({ manufacturer, count }) => ({ name: manufacturer, count }));
    const sections = [
      bars(screen, 'By state', countsOf(found.byStatus, deviceStatuses), statusStyle),
      bars(screen, 'By type', countsOf(found.byType, deviceTypes)),
      manufacturers.length > 0 ? bars(screen, 'By manufacturer', manufacturers) : '',
      bars(
        screen,
        'Registered per day (UTC)',
        days.map(({ day, count }) => ({ name: day, count })),
      ),
    ];
    await out.text(`${out.paint('bold', counted(found.total, 'device'))}\n${sections.join('')}`);
    await out.text(`\n${out.paint('bold', 'To look at')}\n${lookedAt(found)}`);
  },
});

/** Figures that may need work, without bars: the figures have nothing in common. */
const lookedAt = ({ codesExpiring, unused }: { readonly codesExpiring: number; readonly unused: number }): string =>
  `  codes that expire in 30 days  ${grouped(codesExpiring)}\n  ACTIVE, unused for 90 days    ${grouped(unused)}\n`;

const countsOf = <V extends string>(counts: Readonly<Record<V, number>>, names: readonly V[]): BarRow[] =>
  names.map(name => ({ name, count: counts[name] }));
