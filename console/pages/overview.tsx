/** All devices at a glance. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { countedTags, deviceStatuses, deviceTypes, statisticsRange } from '../../src/contract/values.ts';
import { settled, useRefresh, useRepeat } from '../api/live.ts';
import { call, type Data } from '../api/request.ts';
import { useResource } from '../api/resource.ts';
import { isAdmin } from '../api/session.ts';
import { recent } from '../api/stream.ts';
import { ColumnChart } from '../parts/chart.tsx';
import { EventList, groupsOf } from '../parts/events.tsx';
import { CountTable, type FigureProps, Figures, modelRows, stateFigures } from '../parts/figures.tsx';
import { FirstDevice } from '../parts/first-device.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { ReceiptTable, useReceipts } from '../parts/receipts.tsx';
import { useSteps } from '../parts/steps.ts';
import { linkTo } from '../router.ts';
import { grouped } from '../text/numbers.ts';
import { overview as overviewWords, receipts as receiptWords, text } from '../text/words.ts';
import { useHeld } from './people/states.ts';

type Statistics = Data<'getStatistics'>;

const SHOWN = 8;
/** Events after which credentials of a device are removed at providers. */
const endings: ReadonlySet<string> = new Set(['DEVICE_LOCKED', 'DEVICE_DEACTIVATED']);
/** Events after which the number of overdue shipments is another one. */
const shipments: ReadonlySet<string> = new Set([...endings, 'DEVICE_SHIPPED', 'SHIPMENT_OVERDUE', 'RECEIPT_SIGNED']);
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/** Figures about all devices, and the newest events as they happen. */
export function OverviewPage() {
  const statistics = useResource(signal => call('getStatistics', {}, { signal }));
  useRefresh(statistics.reload, events => events.some(({ type }) => type.startsWith('DEVICE_')), settled);
  const held = useHeld();
  // The page of webhooks reports why it is not known.
  const webhooks = useResource(async signal =>
    isAdmin.peek() ? (await call('listWebhooks', {}, { signal })).list : [],
  );
  // Removals begin when devices are locked, and end without an event.
  const removals = useResource(async signal =>
    isAdmin.peek()
      ? (await call('listProviders', {}, { signal })).list.reduce((sum, { pending }) => sum + pending, 0)
      : 0,
  );
  useRefresh(removals.reload, events => events.some(({ type }) => endings.has(type)), settled);
  useRepeat(removals, pending => pending > 0);
  const check = useResource(async signal =>
    isAdmin.peek() ? (await call('checkPeople', {}, { signal })).shipments : 0,
  );
  useRefresh(check.reload, events => events.some(({ type }) => shipments.has(type)), settled);
  const overdue = useReceipts({ overdue: true });
  const waiting: Matters = {
    overdue: overdue.data.value,
    held: held.data.value?.length ?? 0,
    removals: removals.data.value ?? 0,
    shipments: check.data.value ?? 0,
    failing: webhooks.data.value?.filter(({ failures }) => failures > 0).length ?? 0,
    isKnown: [held, webhooks, removals, overdue, check].every(
      ({ data, problem }) => data.value !== undefined || problem.value !== null,
    ),
  };
  return (
    <>
      <h1>{text.nav.overview}</h1>
      <Loaded from={statistics}>{figures => <Sections figures={figures} waiting={waiting} />}</Loaded>
      {!statistics.data.value && statistics.problem.value && <Newest />}
    </>
  );
}

/** Open matters beside the figures: overdue loans and shipments, held leavers, failing webhooks, credentials to remove. */
type Matters = Readonly<{
  overdue: Data<'listReceipts'> | undefined;
  held: number;
  failing: number;
  removals: number;
  shipments: number;
  /** Whether all of them have arrived, or cannot. */
  isKnown: boolean;
}>;
type FiguresProps = Readonly<{ figures: Statistics; waiting: Matters }>;

const Newest = () => (
  <section>
    <h2>{overviewWords.newest}</h2>
    <EventList events={groupsOf(recent.value).slice(0, SHOWN).flat()} />
  </section>
);

/** A step draws one part of it: the parts before it are the same. */
function Sections({ figures, waiting }: FiguresProps) {
  const { charts, tables, top } = useMemo(
    () => ({
      charts: chartsOf(figures),
      tables: tablesOf(figures),
      top: [
        <Attention key="attention" figures={figures} waiting={waiting} />,
        <Figures key="figures" of={linesOf(figures)} />,
      ],
    }),
    [figures, ...Object.values(waiting)],
  );
  const drawn = useSteps(top.length + charts.length + tables.length + 1);
  // A part that is not drawn yet has its column.
  const grid = (parts: readonly VNode[], count: number) =>
    count > 0 && <div class="charts">{parts.map((part, i) => (i < count ? part : <div key={part.key} />))}</div>;
  const others = drawn - top.length - charts.length;
  return (
    <>
      {top.slice(0, drawn)}
      {grid(charts, drawn - top.length)}
      {grid(tables, others)}
      {others > tables.length && <Newest />}
    </>
  );
}

function chartsOf({ registrations: { perHour, perDay }, statesPerDay }: Statistics): VNode[] {
  const counted = (some: typeof perDay) => some.map(({ start, count }) => ({ start, counts: [count] }));
  const states = deviceStatuses.map(status => ({ name: text.status[status], class: status }));
  const byDay = statesPerDay.map(({ start, byStatus }) => ({ start, counts: deviceStatuses.map(n => byStatus[n]) }));
  const { day, hour } = text.common;
  return [
    <ColumnChart key="states" title={overviewWords.states} series={states} columns={byDay} format={day} />,
    <ColumnChart key="hours" title={overviewWords.perHour} columns={counted(perHour)} format={hour} />,
    <ColumnChart key="days" title={overviewWords.perDay} columns={counted(perDay)} format={day} />,
  ];
}

function linesOf(figures: Statistics): FigureProps[] {
  return [
    ...stateFigures(figures),
    ...deviceTypes.map(deviceType => ({
      count: figures.byType[deviceType],
      words: overviewWords.types[deviceType],
      to: linkTo('devices', { deviceType }),
    })),
  ];
}

const inUse = deviceStatuses.filter(status => status !== 'DEACTIVATED');

/** Matters that need a person. The lists that the links show have as many devices as they name. */
function Attention({ figures, waiting }: FiguresProps) {
  const words = overviewWords.attention;
  const { codesDue, byAdvisory, unused, generatedAt } = figures;
  const inDays = (days: number) => new Date(Date.parse(generatedAt) + days * DAY_MS + 1).toISOString();
  const due = { status: 'INACTIVE', codeExpiresBefore: inDays(statisticsRange.dueDays) };
  const stale = { status: 'ACTIVE', lastUsedBefore: inDays(-statisticsRange.unusedDays) };
  const items: FigureProps[] = [
    { count: codesDue, words: words.codes(codesDue), to: linkTo('devices', due) },
    ...byAdvisory.map(({ advisory, byStatus }) => {
      const count = inUse.reduce((sum, status) => sum + byStatus[status], 0);
      const to = linkTo('devices', { advisory, status: inUse.join(',') });
      return { count, words: words.advisory(count, advisory), to };
    }),
    { count: waiting.held, words: words.held(waiting.held), to: linkTo('people') },
    { count: waiting.failing, words: words.webhooks(waiting.failing), to: linkTo('webhooks') },
    { count: waiting.removals, words: words.removals(waiting.removals), to: linkTo('providers') },
    {
      count: waiting.shipments,
      words: words.shipments(waiting.shipments),
      to: linkTo('activity', { types: 'SHIPMENT_OVERDUE' }),
    },
    { count: unused, words: words.unused, to: linkTo('devices', stale) },
  ].filter(({ count }) => count > 0);
  if (figures.total === 0)
    return (
      <div class="empty">
        <FirstDevice />
      </div>
    );
  const isWaiting = !waiting.isKnown;
  const hasOverdue = (waiting.overdue?.list.length ?? 0) > 0;
  return (
    <section class="matters">
      <h2>{words.title}</h2>
      {items.length > 0 && <Figures class="attention" of={items} />}
      {hasOverdue && (
        <>
          <h3>{receiptWords.overdue}</h3>
          <ReceiptTable page={waiting.overdue!} title={receiptWords.overdue} />
        </>
      )}
      <Changes figures={figures} />
      {isWaiting && items.length === 0 && <p role="status">{text.common.loading}</p>}
      {items.length === 0 && !hasOverdue && !isWaiting && <p class="hint">{words.none}</p>}
    </section>
  );
}

/** How many more or fewer devices each state has than a week ago. */
function Changes({ figures: { statesPerDay } }: Pick<FiguresProps, 'figures'>) {
  const [before, now] = [statesPerDay.at(-1 - WEEK_DAYS), statesPerDay.at(-1)];
  const changes = deviceStatuses
    .map(status => [status, (now?.byStatus[status] ?? 0) - (before?.byStatus[status] ?? 0)] as const)
    .filter(([, by]) => by !== 0);
  if (changes.length === 0) return null;
  return (
    <p class="bar">
      {overviewWords.week}
      {changes.map(([status, by]) => (
        <a key={status} href={linkTo('devices', { status })}>
          {by > 0 ? '▲' : '▼'} {grouped(Math.abs(by))} {text.status[status]}
        </a>
      ))}
    </p>
  );
}

/** The most frequent values of what has any. */
function tablesOf({ byManufacturer, byModel, byTag, total }: Statistics): VNode[] {
  const words = overviewWords.by;
  const makers = byManufacturer.map(({ manufacturer, count }) => ({ name: manufacturer, count, to: { manufacturer } }));
  const tags = countedTags.map(tag => {
    const rows = byTag[tag].map(({ value, count }) => ({ name: value, count, to: { tag: `${tag}:${value}` } }));
    return { title: words[tag], rows };
  });
  return [{ title: words.manufacturer, rows: makers }, { title: words.model, rows: modelRows(byModel) }, ...tags]
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => <CountTable key={title} title={title} total={total} rows={rows} />);
}
