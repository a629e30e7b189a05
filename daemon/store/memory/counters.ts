import type { Backoff, Counters, WindowRequest, WindowState } from '../short-lived.ts';

/** Keys of each scope that are remembered: about 20 MB. Beyond that the oldest are forgotten. */
const MOST_KEYS = 100_000;

/** How counters in memory work; for tests. */
export interface MemoryCounterOptions {
  /** Milliseconds on a clock that never goes back: a jump of the wall clock neither locks clients out nor lets them in. */
  readonly monotonic?: () => number;
  /** Milliseconds since 1970. */
  readonly wall?: () => number;
  /** Keys of each scope. */
  readonly most?: number;
}

/** Of a key. Times are on the monotonic clock. */
interface Count {
  used: number;
  endsAt: number;
  blockedUntil: number;
}

/**
 * The counts of one scope, in two generations. A generation is replaced when it is as old as a window is long, or has half
 * of the keys that are remembered. The generation before it is dropped as a whole: nothing searches for counts that have
 * ended, so the cost of one does not depend on how many there are.
 */
class Generations {
  readonly #mostEach: number;
  #current = new Map<string, Count>();
  #previous = new Map<string, Count>();
  #replaceAt = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#mostEach = Math.ceil(most / 2);
  }

  /** The count of a key, which may have ended. */
  find(key: string): Count | undefined {
    return this.#current.get(key) ?? this.#previous.get(key);
  }

  put(key: string, count: Count, now: number): void {
    if (now >= this.#replaceAt || this.#current.size >= this.#mostEach) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#replaceAt = count.endsAt;
    }
    this.#current.set(key, count);
  }

  delete(key: string): void {
    this.#current.delete(key);
    this.#previous.delete(key);
  }
}

/** Counters in the memory of one daemon, in constant time: a restart begins new ones. */
export class MemoryCounters implements Counters {
  readonly #monotonic: () => number;
  readonly #wall: () => number;
  readonly #most: number;
  readonly #scopes = new Map<string, Generations>();

  constructor({ monotonic = () => performance.now(), wall = Date.now, most = MOST_KEYS }: MemoryCounterOptions = {}) {
    this.#monotonic = monotonic;
    this.#wall = wall;
    this.#most = most;
  }

  take({ scope, key, want = 1, need = 1, most, share = 1, milliseconds }: WindowRequest): WindowState {
    const now = this.#monotonic();
    const counts = this.#of(scope);
    const found = openCount(counts, key, now);
    const count = found ?? { used: 0, endsAt: now + milliseconds, blockedUntil: 0 };
    if (!found) counts.put(key, count, now);
    const available = most - count.used;
    const granted = available >= need ? Math.min(want, Math.ceil(available / share)) : 0;
    count.used += granted;
    const left = count.endsAt - now;
    return { granted, used: count.used, left, endsAt: this.#wall() + left, window: count.endsAt };
  }

  giveBack(scope: string, key: string, amount: number, window?: number): void {
    const count = this.#of(scope).find(key);
    if (count && (window === undefined || window === count.endsAt)) count.used = Math.max(0, count.used - amount);
  }

  blockedFor(scope: string, key: string, most: number): number {
    const count = this.#of(scope).find(key);
    if (!count) return 0;
    const until = count.used >= most ? Math.max(count.endsAt, count.blockedUntil) : count.blockedUntil;
    return Math.max(0, until - this.#monotonic());
  }

  wrong(scope: string, key: string, { free, first, longest, forget }: Backoff): number {
    const blocked = this.blockedFor(scope, key, Number.POSITIVE_INFINITY);
    if (blocked > 0) return blocked;
    const now = this.#monotonic();
    const counts = this.#of(scope);
    const used = (openCount(counts, key, now)?.used ?? 0) + 1;
    const block = Math.min(first * 2 ** (used - free), longest);
    // It ends later now, so it belongs to the newer generation.
    counts.put(key, { used, endsAt: now + forget, blockedUntil: used < free ? 0 : now + block }, now);
    return 0;
  }

  right(scope: string, key: string): number {
    const blocked = this.blockedFor(scope, key, Number.POSITIVE_INFINITY);
    if (blocked === 0) this.#of(scope).delete(key);
    return blocked;
  }

  #of(scope: string): Generations {
    const found = this.#scopes.get(scope) ?? new Generations(this.#most);
    this.#scopes.set(scope, found);
    return found;
  }
}

/** The count of a key, unless it has ended. */
function openCount(counts: Generations, key: string, now: number): Count | undefined {
  const found = counts.find(key);
  return found && found.endsAt > now ? found : undefined;
}
