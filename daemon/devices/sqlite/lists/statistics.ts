import { hourMs } from '../../../../src/contract/durations.ts';
import type { DeviceStatistics, StatisticsQuery } from '../../queries.ts';
import type { DeviceColumns } from './device-columns.ts';

/** Devices looked at between two yields: 0.3 ms. */
const stretch = 65_536;

/** Statistics from memory: 4 ns a device. Yields regularly. */
export function* statisticsOf(
  columns: DeviceColumns,
  query: StatisticsQuery,
): Generator<void, Omit<DeviceStatistics, 'tallies'>> {
  const last = columns.count;
  let [codesExpiring, codesDue, unused] = [0, 0, 0];
  for (let from = 1; from <= last; from += stretch) {
    const to = Math.min(from + stretch - 1, last);
    codesExpiring += codesExpiringIn(columns, [query.codesExpireAfter, query.codesExpireBy], from, to);
    codesDue += codesExpiringIn(columns, [Number.NEGATIVE_INFINITY, query.codesDueBy], from, to);
    unused += unusedIn(columns, query.unusedSince, from, to);
    yield;
  }
  const since = query.since / hourMs;
  const registrations = new Map<number, number>();
  for (const [hour, count] of columns.hours) if (hour >= since) registrations.set(hour * hourMs, count);
  return { counts: [...columns.counts()], registrations, codesExpiring, codesDue, unused };
}

/**
 * Plain loops over typed arrays, apart from the generator: five times as fast. Without branches, which the processor cannot
 * predict for a mixture of states: with them, a million devices take 9.3 ms instead of 3.7.
 */
function codesExpiringIn(
  columns: DeviceColumns,
  [after, by]: readonly [number, number],
  from: number,
  to: number,
): number {
  const { activationCodeExpiresAt } = columns.times;
  const isInactive = columns.kindsWith('INACTIVE');
  const kinds = columns.kinds;
  let found = 0;
  for (let n = from; n <= to; n++) {
    const expiresAt = activationCodeExpiresAt[n]!;
    found += isInactive[kinds[n]!]! & Number(expiresAt > after) & Number(expiresAt <= by);
  }
  return found;
}

function unusedIn(columns: DeviceColumns, since: number, from: number, to: number): number {
  const { activatedAt, lastUsedAt } = columns.times;
  const isActive = columns.kindsWith('ACTIVE');
  const kinds = columns.kinds;
  let found = 0;
  for (let n = from; n <= to; n++) {
    const used = lastUsedAt[n]!;
    // A comparison with NaN is false: a device that was never used counts from its activation.
    const isLongAgo = Number(used < since) | (Number(Number.isNaN(used)) & Number(activatedAt[n]! < since));
    found += isActive[kinds[n]!]! & isLongAgo;
  }
  return found;
}
