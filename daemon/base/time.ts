/** Times as the interface shows them. */
import { dayMs } from '../../src/contract/durations.ts';

/** Days whose text is cached: a page of devices names only a few. */
const MAX_CACHED_DAYS = 4096;
const days = new Map<number, string>();
const two = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

/**
 * Returns what `toISOString` does for a time in whole milliseconds since 1970, and throws RangeError in the same cases. The day
 * is cached and the rest takes four table lookups: measured 0.15 µs instead of 0.47, half the cost of a page of a list.
 */
export function iso(at: number): string {
  const day = Math.floor(at / dayMs);
  const millisecond = at - day * dayMs;
  const second = Math.floor(millisecond / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const fraction = millisecond - second * 1000;
  const thousandths = fraction < 100 ? `0${two[fraction]}` : String(fraction);
  return `${days.get(day) ?? dayText(day)}${two[hour]}:${two[minute - hour * 60]}:${two[second - minute * 60]}.${thousandths}Z`;
}

/** The date with its T. */
function dayText(day: number): string {
  const text = new Date(day * dayMs).toISOString().slice(0, -'00:00:00.000Z'.length);
  if (days.size >= MAX_CACHED_DAYS) days.clear();
  days.set(day, text);
  return text;
}

/** The text of a time; null if there is none. */
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** The time of what depends on it: tests set it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
