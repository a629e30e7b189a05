import { ApiError } from '../../src/contract/codes.ts';
import { type Limit, type LimitScope, rateLimits } from '../../src/contract/limits.ts';

/** The limit of each scope; null if it has none. */
export type Limits = Readonly<Record<LimitScope, Limit | null>>;

/** The state of a window, for the headers of a response. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in whole seconds at which the window ends, rounded up. */
  readonly resetAt: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

/** Fixed windows that start with the first request: one for each scope and key (a user, or an address for logins). */
export interface RequestLimits {
  /**
   * Counts a request; null if the scope has no limit. A request beyond the limit is not counted. A promise only if other nodes
   * share the window; it rejects with `StoreFailure` if their store does not answer.
   */
  count(scope: LimitScope, key: string): Allowance | null | Promise<Allowance>;
  /** Like `count`, for what costs this daemon alone: no other node shares the window. */
  countHere(scope: LimitScope, key: string): Allowance | null;
  /** Undoes one `count`. */
  giveBack(scope: LimitScope, key: string): void;
  /** Leaves to other nodes what this one has not used. */
  stop(): Promise<void>;
}

/** 429, with the state of the window that is used up. */
export class RateLimited extends ApiError {
  readonly allowance: Allowance;
  constructor(allowance: Allowance) {
    super(429, `too many requests; try again in ${allowance.retryAfter} s`);
    this.allowance = allowance;
  }
}

/** 429 for another reason than a window: the same request can be answered later. */
export class RetryLater extends ApiError {
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
  constructor(reason: string, retryAfter: number) {
    super(429, `${reason}; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

interface LimiterWindow {
  count: number;
  /** On the monotonic clock: a jump of the wall clock neither locks clients out nor lets them in. */
  readonly endsAt: number;
}

/** The clocks of the limiter, replaceable for tests. */
interface LimiterClocks {
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
}

/** Windows of one scope that are remembered: about 20 MB. Beyond that the oldest are forgotten. */
const MOST_WINDOWS = 100_000;

/**
 * The windows of one scope, in two generations. A generation is replaced when it is as old as a window is long, or has half
 * of the windows that are remembered. The generation before it is dropped as a whole: no count searches for windows that have
 * ended, so its cost does not depend on how many there are.
 */
class Windows {
  readonly #milliseconds: number;
  readonly #mostEach: number;
  #current = new Map<string, LimiterWindow>();
  #previous = new Map<string, LimiterWindow>();
  #replaceAt = Number.NEGATIVE_INFINITY;

  constructor(milliseconds: number, most: number) {
    this.#milliseconds = milliseconds;
    this.#mostEach = Math.ceil(most / 2);
  }

  /** The window of a key, which may have ended. */
  find(key: string): LimiterWindow | undefined {
    return this.#current.get(key) ?? this.#previous.get(key);
  }

  start(key: string, now: number): LimiterWindow {
    if (now >= this.#replaceAt || this.#current.size >= this.#mostEach) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#replaceAt = now + this.#milliseconds;
    }
    const started = { count: 0, endsAt: now + this.#milliseconds };
    this.#current.set(key, started);
    return started;
  }
}

/** Windows in the memory of one daemon. */
export class Limiter implements RequestLimits {
  readonly #limits: Limits;
  readonly #clocks: LimiterClocks;
  readonly #windows = new Map<LimitScope, Windows>();

  /** At most `most` windows of each scope are remembered. */
  constructor(
    limits: Limits = rateLimits,
    clocks: LimiterClocks = { monotonic: () => performance.now(), wall: Date.now },
    most = MOST_WINDOWS,
  ) {
    this.#limits = limits;
    this.#clocks = clocks;
    for (const [scope, limit] of Object.entries(limits) as [LimitScope, Limit | null][])
      if (limit) this.#windows.set(scope, new Windows(limit.seconds * 1000, most));
  }

  count(scope: LimitScope, key: string): Allowance | null {
    const limit = this.#limits[scope];
    const windows = this.#windows.get(scope);
    if (!limit || !windows) return null;
    const now = this.#clocks.monotonic();
    const found = windows.find(key);
    const window = found && found.endsAt > now ? found : windows.start(key, now);
    const allowed = window.count < limit.count;
    if (allowed) window.count++;
    return this.#describe(limit, window, allowed, now);
  }

  countHere(scope: LimitScope, key: string): Allowance | null {
    return this.count(scope, key);
  }

  giveBack(scope: LimitScope, key: string): void {
    const window = this.#windows.get(scope)?.find(key);
    if (window && window.count > 0) window.count--;
  }

  async stop(): Promise<void> {}

  #describe(limit: Limit, window: LimiterWindow, allowed: boolean, now: number): Allowance {
    const left = window.endsAt - now;
    return {
      allowed,
      limit: limit.count,
      remaining: limit.count - window.count,
      resetAt: Math.ceil((this.#clocks.wall() + left) / 1000),
      retryAfter: Math.max(1, Math.ceil(left / 1000)),
    };
  }
}
