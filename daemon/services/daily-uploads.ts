/** The bytes that each user has stored in files within 24 hours after the first upload. */
import type { SharedCounters } from '../store/counters.ts';
import { type Allowance, RateLimited } from './limiter.ts';
import { allowanceOf } from './shared-limiter.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Users whose day is remembered; beyond that the one that began first is forgotten. */
const MOST_USERS = 10_000;

/** Files and bytes that a user may store in a day. */
export interface DailyBounds {
  readonly count: number;
  readonly bytes: number;
}

/** What an upload has reserved of a day. */
export interface Reservation {
  /** Bytes that the file may have. */
  readonly bytes: number;
  /** The refusal of a file that has more. */
  usedUp(): RateLimited;
  /** Ends the upload. `kept`: bytes of the stored file, null if nothing was stored. What was not kept can be used by others. */
  end(kept: number | null): void;
}

/** The days of all users. */
export interface DailyUploads {
  /**
   * Reserves one file of up to `want` bytes, fewer if the day has no room for more. Refuses with 429 if it has not room for `need`
   * bytes. If nodes share the days, rejects with `StoreFailure` if their store does not answer.
   */
  reserve(user: string, want: number, need: number): Reservation | Promise<Reservation>;
}

/** The clocks of the days in milliseconds, replaceable for tests. */
interface DayClocks {
  /** Never goes back. */
  readonly monotonic: () => number;
  /** Since 1970. */
  readonly wall: () => number;
}

/** 429, because a user has stored as much as a day allows. */
class DayUsedUp extends RateLimited {
  constructor(allowance: Allowance) {
    super(allowance);
    this.message = `you have uploaded as much as a day allows; try again in ${allowance.retryAfter} s`;
  }
}

interface Day {
  count: number;
  bytes: number;
  readonly endsAt: number;
}

/** Days in the memory of one daemon: a restart begins new ones. */
export class LocalDays implements DailyUploads {
  readonly #bounds: DailyBounds;
  readonly #clocks: DayClocks;
  readonly #days = new Map<string, Day>();

  constructor(bounds: DailyBounds, clocks: DayClocks = { monotonic: () => performance.now(), wall: Date.now }) {
    this.#bounds = bounds;
    this.#clocks = clocks;
  }

  reserve(user: string, want: number, need: number): Reservation {
    const day = this.#today(user);
    const left = day.count < this.#bounds.count ? this.#bounds.bytes - day.bytes : 0;
    if (left < need) throw this.#usedUp(day);
    const bytes = Math.min(want, left);
    day.count++;
    day.bytes += bytes;
    return {
      bytes,
      usedUp: () => this.#usedUp(day),
      end: kept => {
        if (kept === null) day.count--;
        day.bytes += (kept ?? 0) - bytes;
      },
    };
  }

  #today(user: string): Day {
    const now = this.#clocks.monotonic();
    const found = this.#days.get(user);
    if (found && found.endsAt > now) return found;
    this.#days.delete(user);
    if (this.#days.size >= MOST_USERS) this.#days.delete(this.#days.keys().next().value!);
    const day = { count: 0, bytes: 0, endsAt: now + DAY_MS };
    this.#days.set(user, day);
    return day;
  }

  #usedUp(day: Day): DayUsedUp {
    const left = day.endsAt - this.#clocks.monotonic();
    const limit = this.#bounds.count;
    return new DayUsedUp({
      allowed: false,
      limit,
      remaining: Math.max(0, limit - day.count),
      resetAt: Math.ceil((this.#clocks.wall() + left) / 1000),
      retryAfter: Math.max(1, Math.ceil(left / 1000)),
    });
  }
}

const FILES = 'files of a day';
const BYTES = 'bytes of a day';

/** Days that nodes share. What a node that died has reserved is lost until the end of the day. */
export class SharedDays implements DailyUploads {
  readonly #bounds: DailyBounds;
  readonly #counters: Pick<SharedCounters, 'take' | 'giveBack'>;

  constructor(bounds: DailyBounds, counters: Pick<SharedCounters, 'take' | 'giveBack'>) {
    this.#bounds = bounds;
    this.#counters = counters;
  }

  async reserve(user: string, want: number, need: number): Promise<Reservation> {
    const day = { key: user, share: 1, milliseconds: DAY_MS };
    const files = await this.#counters.take({ ...day, scope: FILES, want: 1, need: 1, most: this.#bounds.count });
    const usedUp = () => new DayUsedUp({ ...allowanceOf(files, this.#bounds.count), allowed: false });
    if (files.granted === 0) throw usedUp();
    const returnFile = () => this.#giveBack(FILES, user, 1, files.endsAt);
    const bytes = await this.#counters
      .take({ ...day, scope: BYTES, want, need, most: this.#bounds.bytes })
      .catch(async error => {
        await returnFile();
        throw error;
      });
    if (bytes.granted === 0) {
      await returnFile();
      throw usedUp();
    }
    return {
      bytes: bytes.granted,
      usedUp,
      end: kept => {
        if (kept === null) void returnFile();
        void this.#giveBack(BYTES, user, bytes.granted - (kept ?? 0), bytes.endsAt);
      },
    };
  }

  /** What cannot be given back stays counted until the day ends. */
  async #giveBack(scope: string, user: string, amount: number, endsAt: number): Promise<void> {
    if (amount > 0) await this.#counters.giveBack(scope, user, amount, endsAt).catch(() => {});
  }
}
