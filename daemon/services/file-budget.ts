/** How much clients may store in files: in total, of the disk, and each user in a day. */
import { ApiError } from '../../src/contract/codes.ts';
import { type Allowance, RateLimited } from './limiter.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Users whose day is remembered; beyond that the one that began first is forgotten. */
const MOST_USERS = 10_000;

/** The bounds of stored files. */
export interface FileBounds {
  /** Bytes of all files; null if only the disk bounds them. */
  readonly total: number | null;
  /** Bytes of a disk of this size that uploads leave free for the registry. */
  readonly reserve: (diskSize: number) => number;
  /** Files and bytes that a user may store in a day; null if there is no bound. */
  readonly daily: { readonly count: number; readonly bytes: number } | null;
}

/** What the budget has to know of the disk. */
export interface Disk {
  /** Bytes of the stored files. Called once. */
  stored(): Promise<number>;
  /** Bytes that can still be written, and the size of the disk. */
  space(): Promise<{ readonly free: number; readonly size: number }>;
}

/** The clocks of the budget in milliseconds, replaceable for tests. */
export interface BudgetClocks {
  /** Never goes back. */
  readonly monotonic: () => number;
  /** Since 1970. */
  readonly wall: () => number;
}

/** The uploads of a user within a day that began with the first. */
interface Day {
  count: number;
  bytes: number;
  readonly endsAt: number;
}

/** An upload that was announced. */
export interface Admission {
  /** Bytes that the file may have: fewer than the operation allows if the store or the day has no room for more. */
  readonly maxBytes: number;
  /** The refusal of a file that has more bytes. */
  tooLarge(): ApiError;
  /** Takes the function that returns how many bytes have arrived. */
  follow(arrived: () => number): void;
  /** The file is stored and has this many bytes. */
  keep(bytes: number): void;
  /** Ends the upload. What it has not kept can be used by others. Idempotent. */
  end(): void;
}

/** The bounds of all uploads of a daemon. The days of users are kept in memory: a restart begins new ones. */
export class FileBudget {
  readonly #bounds: FileBounds;
  readonly #disk: Disk;
  readonly #clocks: BudgetClocks;
  readonly #days = new Map<string, Day>();
  /** Uploads that have not ended: the bytes each may still write. */
  readonly #running = new Set<() => number>();
  #stored: Promise<number> | null = null;
  /** Bytes kept since `#stored` was counted. */
  #added = 0;

  constructor(
    bounds: FileBounds,
    disk: Disk,
    clocks: BudgetClocks = { monotonic: () => performance.now(), wall: Date.now },
  ) {
    this.#bounds = bounds;
    this.#disk = disk;
    this.#clocks = clocks;
  }

  /**
   * Admits an upload of `expected` bytes, 0 if that is unknown. Refuses with 429 if the user's day is used up, with 4002 if the
   * store has no room.
   */
  async admit(user: string, maxBytes: number, expected: number): Promise<Admission> {
    const room = await this.#room();
    // From here on nothing waits, so that uploads at the same time see each other.
    const left = Math.floor(room - [...this.#running].reduce((sum, stillToCome) => sum + stillToCome(), 0));
    if (left <= 0 || expected > left) throw diskFull();
    const day = this.#today(user);
    const leftToday = this.#leftToday(day);
    if (leftToday <= 0 || expected > leftToday) throw this.#dayUsedUp(day!);
    const cap = Math.min(expected > 0 ? expected : maxBytes, maxBytes, left, leftToday);
    const tooLarge = () => {
      if (cap === maxBytes) return new ApiError(4002, `the file is larger than ${maxBytes} bytes`);
      return cap === leftToday ? this.#dayUsedUp(day!) : diskFull();
    };
    return this.#start(day, cap, tooLarge);
  }

  #start(day: Day | null, maxBytes: number, tooLarge: () => ApiError): Admission {
    let arrived = (): number => 0;
    let kept: number | null = null;
    const stillToCome = () => Math.max(0, maxBytes - arrived());
    this.#running.add(stillToCome);
    if (day) {
      day.count++;
      day.bytes += maxBytes;
    }
    return {
      maxBytes,
      tooLarge,
      follow: count => {
        arrived = count;
      },
      keep: bytes => {
        kept = bytes;
        this.#added += bytes;
      },
      end: () => {
        if (!this.#running.delete(stillToCome) || day === null) return;
        if (kept === null) day.count--;
        day.bytes += (kept ?? 0) - maxBytes;
      },
    };
  }

  /** Bytes that all uploads together may still store. */
  async #room(): Promise<number> {
    const { total, reserve } = this.#bounds;
    const { free, size } = await this.#disk.space();
    const ofDisk = free - reserve(size);
    return total === null ? ofDisk : Math.min(ofDisk, total - (await this.#storedAtStart()) - this.#added);
  }

  /** Counted before the first upload is admitted. A count that fails is repeated for the next one. */
  #storedAtStart(): Promise<number> {
    this.#stored ??= this.#disk.stored().catch(error => {
      this.#stored = null;
      throw error;
    });
    return this.#stored;
  }

  /** The day of a user; null if days have no bound. */
  #today(user: string): Day | null {
    if (this.#bounds.daily === null) return null;
    const now = this.#clocks.monotonic();
    const found = this.#days.get(user);
    return found && found.endsAt > now ? found : this.#newDay(user, now);
  }

  /** Bytes that the user may still store in this day. */
  #leftToday(day: Day | null): number {
    const { daily } = this.#bounds;
    if (daily === null || day === null) return Number.POSITIVE_INFINITY;
    return day.count < daily.count ? daily.bytes - day.bytes : 0;
  }

  #newDay(user: string, now: number): Day {
    this.#days.delete(user);
    if (this.#days.size >= MOST_USERS) this.#days.delete(this.#days.keys().next().value!);
    const day = { count: 0, bytes: 0, endsAt: now + DAY_MS };
    this.#days.set(user, day);
    return day;
  }

  #dayUsedUp(day: Day): DayUsedUp {
    const left = day.endsAt - this.#clocks.monotonic();
    const limit = this.#bounds.daily?.count ?? 0;
    return new DayUsedUp({
      allowed: false,
      limit,
      remaining: Math.max(0, limit - day.count),
      resetAt: Math.ceil((this.#clocks.wall() + left) / 1000),
      retryAfter: Math.max(1, Math.ceil(left / 1000)),
    });
  }
}

/** 429, because a user has stored as much as a day allows. */
class DayUsedUp extends RateLimited {
  constructor(allowance: Allowance) {
    super(allowance);
    this.message = `you have uploaded as much as a day allows; try again in ${allowance.retryAfter} s`;
  }
}

/** The refusal of a file for which the store has no room. */
export const diskFull = (): ApiError => new ApiError(4002, 'the disk of the service is full; nothing was stored');
