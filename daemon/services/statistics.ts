import type { DataOf } from '../../src/contract/define.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { deviceStatuses, deviceTypes, statisticsRange } from '../../src/contract/values.ts';
import type { DeviceStatistics } from '../store/queries.ts';
import type { Reader } from '../store/store.ts';
import { iso } from './present.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type ServicesStatistics = DataOf<Routes['getStatistics']>;
type Counts = DeviceStatistics['counts'];

/** Counts the devices. `now`: milliseconds since 1970. */
export async function statisticsAt(store: Pick<Reader, 'statistics'>, now: number): Promise<ServicesStatistics> {
  const firstDay = startOf(now, dayMs) - (statisticsRange.days - 1) * dayMs;
  const found = await store.statistics({
    since: firstDay,
    codesExpireAfter: now,
    codesExpireBy: now + statisticsRange.codesDays * dayMs,
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
    codesExpiring: found.codesExpiring,
    unused: found.unused,
    generatedAt: iso(now),
  };
}

const startOf = (time: number, length: number) => Math.floor(time / length) * length;

const sum = (counts: Counts): number => counts.reduce((total, { count }) => total + count, 0);

/** The number of devices for each value of a field. */
function by<const V extends string>(
  counts: Counts,
  field: 'status' | 'deviceType',
  values: readonly V[],
): Record<V, number> {
  return Object.fromEntries(
    values.map(value => [value, sum(counts.filter(row => (row[field] as string) === value))]),
  ) as Record<V, number>;
}

/** The manufacturers with the most devices; those with as many in the order of their names. */
function largest(counts: Counts): ServicesStatistics['byManufacturer'] {
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
