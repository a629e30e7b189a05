import type { DeviceStatistics, StatisticsQuery } from '../../store.ts';
import { hourMs } from '../statistics.ts';
import type { DeviceColumns } from './device-columns.ts';

/** Devices looked at between two yields: 0.3 ms. */
const stretch = 65_536;

/** Statistics from memory: 5 ns a device. Yields regularly. */
export function* statisticsOf(columns: DeviceColumns, query: StatisticsQuery): Generator<void, DeviceStatistics> {
  const { activatedAt, lastUsedAt, activationCodeExpiresAt } = columns.times;
  const last = columns.count;
  let [codesExpiring, unused] = [0, 0];
  for (let n = 1; n <= last; n++) {
    if (n % stretch === 0) yield;
    const status = columns.statusOf(n);
    if (status === 'INACTIVE') {
      const expiresAt = activationCodeExpiresAt[n]!;
      if (expiresAt > query.codesExpireAfter && expiresAt <= query.codesExpireBy) codesExpiring++;
    } else if (status === 'ACTIVE') {
      const used = lastUsedAt[n]!;
      if ((Number.isNaN(used) ? activatedAt[n]! : used) < query.unusedSince) unused++;
    }
  }
  const since = query.since / hourMs;
  const registrations = new Map<number, number>();
  for (const [hour, count] of columns.hours) if (hour >= since) registrations.set(hour * hourMs, count);
  return { counts: [...columns.counts()], registrations, codesExpiring, unused };
}
