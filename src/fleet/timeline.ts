/** When devices were registered: counts over time, and the time between two registrations. Memory does not grow with the devices. */
import { minuteMs } from '../contract/durations.ts';

/** Minutes. Each is a multiple of the one before it, so that bins can be joined; the last one is for clocks that are wrong. */
const widths = [1, 5, 15, 30, 60, 180, 360, 720, 1_440, 10_080, 40_320, 524_160, 524_160_000] as const;
const mostBins = 24;

/** Registrations from a time on, for the width of a bin. */
export interface Bin {
  /** ISO 8601 UTC. */
  readonly start: string;
  readonly count: number;
  readonly perHour: number;
}

/** Counts registrations in at most 24 bins. The width follows from the first and the last time. */
export class Timeline {
  #width = 0;
  #bins = new Map<number, number>();
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** `time` in milliseconds since 1970. */
  take(time: number): void {
    this.#first = Math.min(this.#first, time);
    this.#last = Math.max(this.#last, time);
    this.#count++;
    while (this.#binOf(this.#last) - this.#binOf(this.#first) >= mostBins && this.#width < widths.length - 1)
      this.#widen();
    this.#add(this.#binOf(time), 1);
  }

  /** ISO 8601 UTC; null without a registration. */
  get first(): string | null {
    return this.#count === 0 ? null : new Date(this.#first).toISOString();
  }

  /** ISO 8601 UTC; null without a registration. */
  get last(): string | null {
    return this.#count === 0 ? null : new Date(this.#last).toISOString();
  }

  /** Mean from the first to the last registration; null if all were at one time. */
  get perHour(): number | null {
    const hours = (this.#last - this.#first) / (60 * minuteMs);
    return this.#count > 1 && hours > 0 ? rounded((this.#count - 1) / hours) : null;
  }

  /** Width of a bin. */
  get minutes(): number {
    return widths[this.#width]!;
  }

  /** From the first to the last registration, with empty bins between. */
  get bins(): readonly Bin[] {
    if (this.#count === 0) return [];
    const from = this.#binOf(this.#first);
    return Array.from({ length: this.#binOf(this.#last) - from + 1 }, (_, at) => {
      const count = this.#bins.get(from + at) ?? 0;
      const start = new Date(Math.max((from + at) * this.minutes * minuteMs, -8.64e15)).toISOString();
      return { start, count, perHour: rounded((count * 60) / this.minutes) };
    });
  }

  #binOf(time: number): number {
    return Math.floor(time / (this.minutes * minuteMs));
  }

  #widen(): void {
    const before = this.#bins;
    const factor = widths[this.#width + 1]! / this.minutes;
    this.#width++;
    this.#bins = new Map();
    for (const [bin, count] of before) this.#add(Math.floor(bin / factor), count);
  }

  #add(bin: number, count: number): void {
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + count);
  }
}

/** One decimal is enough for a rate. */
const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Registrations whose distance from the one before is in a range of seconds. `to` is not included; null is the end. */
export interface GapBin {
  readonly from: number;
  readonly to: number | null;
  readonly count: number;
}

/** Seconds. */
const limits = [0, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900] as const;
/** A minute is counted in milliseconds, a day in seconds. */
const exactMs = 60_000;
const longestSeconds = 86_400;

/** The distribution of the time between two registrations: to the millisecond below a minute, to the second below a day. */
export class Gaps {
  readonly #counts = new Uint32Array(exactMs + longestSeconds);
  readonly #bins = new Uint32Array(limits.length);
  #total = 0;

  take(ms: number): void {
    const gap = Math.max(0, Math.round(ms));
    const second = Math.min(Math.floor(gap / 1000), longestSeconds - 1);
    this.#counts[gap < exactMs ? gap : exactMs + second]!++;
    this.#bins[limits.findLastIndex(limit => gap >= limit * 1000)]!++;
    this.#total++;
  }

  /** Seconds below which this share of the gaps is (nearest rank); null without a gap. A day and more is a day. */
  quantile(share: number): number | null {
    let left = Math.max(1, Math.ceil(share * this.#total));
    if (this.#total === 0) return null;
    const at = this.#counts.findIndex(count => {
      left -= count;
      return left <= 0;
    });
    return at < exactMs ? at / 1000 : at - exactMs;
  }

  get bins(): readonly GapBin[] {
    return limits.map((from, at) => ({ from, to: limits[at + 1] ?? null, count: this.#bins[at]! }));
  }
}
