/**
 * Windows that nodes share, used in portions: a node takes a part of what is left and counts it down in memory, so that most requests
 * cost no round trip. What is unused when a lease ends goes back. All nodes together never allow more than the limit: what a
 * node that died has leased is lost for the rest of the window.
 */
import type { Limit } from '../../src/contract/limits.ts';
import { every } from '../base/concurrency.ts';
import type { SharedCounters, WindowState } from '../store/short-lived.ts';
import type { Allowance } from './limiter.ts';

/** Milliseconds for which a node keeps a portion that it does not use up, and for which it repeats a refusal. */
const LEASE_MS = 2000;
const SWEEP_MS = 500;
/** The first portion is this part of the limit. Each further one within a lease is twice as large. */
const FIRST_PART = 16;
/** Half of what is left stays for other nodes. */
const SHARE = 2;

/** Dependencies of leases. */
interface LeaseParts {
  readonly counters: Pick<SharedCounters, 'take' | 'giveBack'>;
  readonly scope: string;
  readonly limit: Limit;
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
}

interface Lease {
  /** Requests that this node may still allow. */
  left: number;
  /** Size of the last portion that was asked for. */
  readonly want: number;
  /** Total that all nodes have taken, as far as this node knows. */
  readonly used: number;
  /** The end of the window on the monotonic clock, never too late; and in milliseconds since 1970. */
  readonly windowEnds: number;
  readonly endsAt: number;
  readonly window: number;
  /** The end of the lease on the monotonic clock. */
  readonly until: number;
}

/** The leases of one scope. */
export class Leases {
  readonly #parts: LeaseParts;
  readonly #leases = new Map<string, Lease>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #stopTimer: () => void;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#stopTimer = every(SWEEP_MS, () => void this.returnEnded());
  }

  /** Counts a request. Rejects with `StoreFailure` if a portion is needed and the server does not answer. */
  count(key: string): Allowance | Promise<Allowance> {
    return this.#countHere(key) ?? this.#countLater(key);
  }

  /**
   * Gives back the unused requests of ended leases. Never rejects: a portion that cannot be given back is lost for the rest of
   * its window.
   */
  async returnEnded(): Promise<void> {
    const now = this.#parts.monotonic();
    await this.#return(([, { until, windowEnds }]) => until <= now || windowEnds <= now);
  }

  /** Gives everything back. */
  async stop(): Promise<void> {
    this.#stopTimer();
    await Promise.allSettled(this.#asking.values());
    await this.#return(() => true);
  }

  #countHere(key: string): Allowance | null {
    const lease = this.#leases.get(key);
    const now = this.#parts.monotonic();
    if (!lease || lease.windowEnds <= now) return null;
    if (lease.left > 0) {
      lease.left--;
      return this.#describe(lease, true, now);
    }
    // Refused: others may give something back later.
    return lease.used >= this.#parts.limit.count && lease.until > now ? this.#describe(lease, false, now) : null;
  }

  async #countLater(key: string): Promise<Allowance> {
    for (;;) {
      await this.#ask(key);
      // Others that have waited may have used up a small portion.
      const counted = this.#countHere(key);
      if (counted) return counted;
    }
  }

  /** Asks for a portion. Requests that need it at the same time share it. */
  #ask(key: string): Promise<void> {
    const asking = this.#asking.get(key) ?? this.#takePortion(key).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #takePortion(key: string): Promise<void> {
    const { counters, scope, limit, monotonic } = this.#parts;
    const before = this.#leases.get(key);
    const now = monotonic();
    const first = Math.ceil(limit.count / FIRST_PART);
    const want = before && before.until > now ? Math.min(before.want * 2, limit.count) : first;
    const [most, milliseconds] = [limit.count, limit.seconds * 1000];
    const taken = await counters.take({ scope, key, want, most, share: SHARE, milliseconds });
    this.#leases.set(key, leaseOf(taken, want, now, monotonic()));
  }

  async #return(isDue: (entry: [string, Lease]) => boolean): Promise<void> {
    const due = [...this.#leases].filter(isDue);
    const { counters, scope, monotonic } = this.#parts;
    const returning = due.map(async ([key, { left, window, windowEnds }]) => {
      this.#leases.delete(key);
      if (left > 0 && windowEnds > monotonic()) await counters.giveBack(scope, key, left, window);
    });
    await Promise.allSettled(returning);
  }

  #describe({ left, used, windowEnds, endsAt }: Lease, allowed: boolean, now: number): Allowance {
    const { count } = this.#parts.limit;
    return {
      allowed,
      limit: count,
      remaining: Math.max(0, count - used) + left,
      resetAt: Math.ceil(endsAt / 1000),
      retryAfter: Math.max(1, Math.ceil((windowEnds - now) / 1000)),
    };
  }
}

/** `asked` and `answered` are monotonic times. The end is computed from the time of the question, which is never too late. */
function leaseOf(
  { granted, used, left, endsAt, window }: WindowState,
  want: number,
  asked: number,
  answered: number,
): Lease {
  return { left: granted, want, used, windowEnds: asked + left, endsAt, window, until: answered + LEASE_MS };
}
