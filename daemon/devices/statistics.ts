import { dayMs, hourMs } from '../../src/contract/durations.ts';
import type { Data } from '../../src/contract/routes.ts';
import { countedTags, deviceStatuses, deviceTypes, statisticsRange } from '../../src/contract/values.ts';
import { iso } from '../base/time.ts';
import type { Reader } from '../store/store.ts';
import type { DeviceStatistics, Tally } from './queries.ts';

type Statistics = Data<'getStatistics'>;
type Counts = DeviceStatistics['counts'];

/** Counts the devices. `now`: milliseconds since 1970. */
export async function statisticsAt(store: Pick<Reader, 'statistics'>, now: number): Promise<Statistics> {
  const firstDay = startOf(now, dayMs) - (statisticsRange.days - 1) * dayMs;
  const found = await store.statistics({
    since: firstDay,
    codesExpireAfter: now,
    codesExpireBy: now + statisticsRange.codesDays * dayMs,
    codesDueBy: now + statisticsRange.dueDays * dayMs,
    unusedSince: now - statisticsRange.unusedDays * dayMs,
  });
  return {
    total: sum(found.counts),
    byStatus: by(found.counts, 'status', deviceStatuses),
    byType: by(found.counts, 'deviceType', deviceTypes),
    byManufacturer: largest(found.counts),
    registrations: {
      perHour: buckets(found.registrations, now, hourMs, statisticsRange.hours),
      perDay: buckets(found.registrations, now, dayMs, statisticsRange.days),
    },
    statesPerDay: statesPerDay(found, now),
    byModel: partsOf(found.tallies, 'model').map(({ value, ...part }) => {
      const [manufacturer = '', model = ''] = value.split('\n');
      return { manufacturer, model, ...part };
    }),
    byTag: Object.fromEntries(countedTags.map(tag => [tag, partsOf(found.tallies, tag)])) as Statistics['byTag'],
    byAdvisory: partsOf(found.tallies, 'advisory').map(({ value, ...part }) => ({ advisory: value, ...part })),
    codesDue: found.codesDue,
    codesExpiring: found.codesExpiring,
    unused: found.unused,
    generatedAt: iso(now),
  };
}

const startOf = (time: number, length: number) => Math.floor(time / length) * length;

const sum = (counts: readonly { readonly count: number }[]): number =>
  counts.reduce((total, { count }) => total + count, 0);

/** The number of devices for each value of a field. */
function by<R extends { readonly count: number }, F extends keyof R>(
  counts: readonly R[],
  field: F,
  values: readonly (R[F] & string)[],
): Record<R[F] & string, number> {
  return Object.fromEntries(values.map(value => [value, sum(counts.filter(row => row[field] === value))])) as Record<
    R[F] & string,
    number
  >;
}

/** The manufacturers with the most devices; those with as many in the order of their names. */
function largest(counts: Counts): Statistics['byManufacturer'] {
  const totals = new Map<string, number>();
  for (const { manufacturer, count } of counts) totals.set(manufacturer, (totals.get(manufacturer) ?? 0) + count);
  return [...totals]
    .map(([manufacturer, count]) => ({ manufacturer, count }))
    .sort((a, b) => b.count - a.count || (a.manufacturer < b.manufacturer ? -1 : 1))
    .slice(0, statisticsRange.manufacturers);
}

/** The last `number` intervals of `length`, the one that contains `now` last. */
function buckets(hours: ReadonlyMap<number, number>, now: number, length: number, number: number) {
  const totals = new Map<number, number>();
  for (const [hour, count] of hours)
    totals.set(startOf(hour, length), (totals.get(startOf(hour, length)) ?? 0) + count);
  const current = startOf(now, length);
  return Array.from({ length: number }, (_, i) => {
    const start = current - (number - 1 - i) * length;
    return { start: iso(start), count: totals.get(start) ?? 0 };
  });
}

/** The devices in each state for each value of a subject; the values with the most devices first. */
function partsOf(tallies: readonly Tally[], subject: Tally['subject']) {
  const parts = Map.groupBy(
    tallies.filter(tally => tally.subject === subject),
    ({ value }) => value,
  );
  return [...parts]
    .map(([value, counts]) => ({ value, count: sum(counts), byStatus: by(counts, 'status', deviceStatuses) }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

/** From the present backwards: a day began with what it ended with, without what came in, and with what left. */
function statesPerDay({ counts, tallies }: DeviceStatistics, now: number) {
  const present = by(counts, 'status', deviceStatuses);
  const today = startOf(now, dayMs);
  return Array.from({ length: statisticsRange.days }, (_, i) => {
    const start = today - i * dayMs;
    const byStatus = { ...present };
    for (const { subject, value, status, count } of tallies)
      if (subject === 'day' && Number(value) === start / dayMs) present[status] -= count;
    return { start: iso(start), byStatus };
  }).reverse();
}
