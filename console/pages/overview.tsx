/** All devices at a glance. */
import type { DataOf } from '../../src/contract/define.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { deviceStatuses, deviceTypes, statisticsRange } from '../../src/contract/values.ts';
import { settled, useRefresh } from '../api/live.ts';
import { call } from '../api/request.ts';
import { useResource } from '../api/resource.ts';
import { recent } from '../api/stream.ts';
import { ColumnChart } from '../parts/chart.tsx';
import { EventList } from '../parts/events.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { linkTo } from '../router.ts';
import { day, grouped, hour } from '../text/numbers.ts';
import { dictionary, text } from '../text/text.ts';

const overviewWords = dictionary('overview');

type Statistics = DataOf<Routes['getStatistics']>;

/** How many of the newest events the page shows. */
const SHOWN = 20;
const DAY_MS = 86_400_000;

/** Figures about all devices, and the newest events as they happen. */
export function OverviewPage() {
  const words = overviewWords.value;
  const statistics = useResource(signal => call('getStatistics', {}, { signal }));
  useRefresh(statistics.reload, events => events.some(({ type }) => type.startsWith('DEVICE_')), settled);
  return (
    <>
      <h1>{words.title}</h1>
      <Loaded from={statistics}>{figures => <Figures figures={figures} />}</Loaded>
      <section>
        <h2>{words.newest}</h2>
        <EventList events={recent.value.slice(0, SHOWN)} />
      </section>
    </>
  );
}

function Figures({ figures }: { readonly figures: Statistics }) {
  const words = overviewWords.value;
  const { registrations } = figures;
  return (
    <>
      <ul class="figures">
        {linesOf(figures).map(figure => (
          <Figure key={figure.to} {...figure} />
        ))}
      </ul>
      <div class="charts">
        <ColumnChart title={words.perHour} columns={registrations.perHour} format={hour} />
        <ColumnChart title={words.perDay} columns={registrations.perDay} format={day} />
      </div>
    </>
  );
}

/** Each figure with the list of its devices. */
function linesOf({ total, byStatus, byType, codesExpiring, unused, generatedAt }: Statistics): FigureProps[] {
  const words = overviewWords.value;
  const inDays = (days: number) => new Date(Date.parse(generatedAt) + days * DAY_MS).toISOString();
  const { codesDays, unusedDays } = statisticsRange;
  const expiring = { status: 'INACTIVE', codeExpiresBefore: inDays(codesDays) };
  return [
    { count: total, words: words.devices, to: linkTo('devices') },
    ...deviceStatuses.map(status => ({
      count: byStatus[status],
      words: text.value.status[status],
      to: linkTo('devices', { status }),
    })),
    ...deviceTypes.map(deviceType => ({
      count: byType[deviceType],
      words: words.types[deviceType],
      to: linkTo('devices', { deviceType }),
    })),
    { count: codesExpiring, words: words.codesExpiring, to: linkTo('devices', expiring), isWarning: codesExpiring > 0 },
    {
      count: unused,
      words: words.unused,
      to: linkTo('devices', { status: 'ACTIVE', lastUsedBefore: inDays(-unusedDays) }),
      isWarning: unused > 0,
    },
  ];
}

interface FigureProps {
  readonly count: number;
  readonly words: string;
  /** Address of the list of these devices. */
  readonly to: string;
  readonly isWarning?: boolean;
}

function Figure({ count, words, to, isWarning = false }: FigureProps) {
  return (
    <li>
      <a href={to} class={isWarning ? 'warning' : undefined}>
        <strong>{grouped(count)}</strong> <span>{words}</span>
      </a>
    </li>
  );
}
