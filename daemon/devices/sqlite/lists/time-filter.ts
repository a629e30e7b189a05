import { fieldFilters, movingFilters } from '../../filters.ts';
import type { DeviceFilter } from '../../queries.ts';
import { type Bits, bitsFor, firstFrom, setRange } from './bits.ts';
import type { DeviceColumns } from './device-columns.ts';

/** Devices looked at between two yields: 0.2 ms. */
const stretch = 65_536;

/** The filters that a time of a device must be before. */
const movingTimes = fieldFilters.filter(({ name }) => movingFilters.includes(name as never));

/** The devices up to `last` that match the times of the filter. 3 ns a device for each time; yields regularly. */
export function* matchingTimes(columns: DeviceColumns, filter: DeviceFilter, last: number): Generator<void, Bits> {
  const { lastUsedAt, activatedAt } = columns.times;
  const bits = yield* createdBetween(columns, filter, last);
  if (filter.lastUsedBefore !== undefined) {
    const before = filter.lastUsedBefore;
    yield* keep(bits, last, n => {
      const used = lastUsedAt[n]!;
      // NaN is a time that the device does not have; it is before none.
      return (Number.isNaN(used) ? activatedAt[n]! : used) < before;
    });
  }
  for (const { name, field } of movingTimes) {
    const before = filter[name] as number | undefined;
    const times = columns.times[field as keyof typeof columns.times];
    if (before !== undefined) yield* keep(bits, last, n => times[n]! < before);
  }
  return bits;
}

function* createdBetween(columns: DeviceColumns, filter: DeviceFilter, last: number): Generator<void, Bits> {
  const { createdFrom = Number.NEGATIVE_INFINITY, createdTo = Number.POSITIVE_INFINITY } = filter;
  const { createdAt } = columns.times;
  const bits = bitsFor(last);
  if (columns.clockSteppedBack) {
    setRange(bits, 1, last);
    yield* keep(bits, last, n => createdAt[n]! >= createdFrom && createdAt[n]! < createdTo);
  } else {
    const firstSince = (time: number) => firstFrom(1, last + 1, n => createdAt[n]! < time);
    setRange(bits, firstSince(createdFrom), firstSince(createdTo) - 1);
  }
  return bits;
}

/** Removes the devices from `bits` for which this does not hold. */
function* keep(bits: Bits, last: number, holds: (n: number) => boolean): Generator<void, void> {
  for (let n = 1; n <= last; n++) {
    if (n % stretch === 0) yield;
    if (!holds(n)) bits[n >>> 5]! &= ~(1 << (n & 31));
  }
}
