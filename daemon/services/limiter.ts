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

/** 429, with the state of the window that is used up. */
export class RateLimited extends ApiError {
  readonly allowance: Allowance;
  constructor(allowance: Allowance) {
    super(429, `too many requests; try again in ${allowance.retryAfter} s`);
    this.allowance = allowance;
  }
}

interface Window {
  count: number;
  /** On the monotonic clock: a jump of the wall clock neither locks clients out nor lets them in. */
  readonly endsAt: number;
}

/** The clocks of the limiter, replaceable for tests. */
export interface LimiterClocks {
  /** Milliseconds on a clock that never goes back. */
  readonly monotonic: () => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
}

/** Number of windows from which on expired ones are removed when a new one starts. */
const SWEEP_AT = 10_000;

/** Fixed windows that start with the first request: one for each scope and key (a user, or an address for logins). */
export class Limiter {
  readonly #limits: Limits;
  readonly #clocks: LimiterClocks;
  readonly #windows: Readonly<Record<LimitScope, Map<string, Window>>> = {
    login: new Map(),
    query: new Map(),
    modify: new Map(),
    upload: new Map(),
  };

  constructor(
    limits: Limits = rateLimits,
    clocks: LimiterClocks = { monotonic: () => performance.now(), wall: Date.now },
  ) {
    this.#limits = limits;
    this.#clocks = clocks;
  }

  /** Counts a request; null if the scope has no limit. A request beyond the limit is not counted. */
  count(scope: LimitScope, key: string): Allowance | null {
    const limit = this.#limits[scope];
    if (!limit) return null;
    const now = this.#clocks.monotonic();
    const window = this.#window(scope, key, limit, now);
    const allowed = window.count < limit.count;
    if (allowed) window.count++;
    return this.#describe(limit, window, allowed, now);
  }

  /** Undoes one `count`. */
  giveBack(scope: LimitScope, key: string): void {
    const window = this.#windows[scope].get(key);
    if (window && window.count > 0) window.count--;
  }

  #window(scope: LimitScope, key: string, limit: Limit, now: number): Window {
    const windows = this.#windows[scope];
    const found = windows.get(key);
    if (found && found.endsAt > now) return found;
    if (windows.size >= SWEEP_AT) for (const [name, window] of windows) if (window.endsAt <= now) windows.delete(name);
    const started = { count: 0, endsAt: now + limit.seconds * 1000 };
    windows.set(key, started);
    return started;
  }

  #describe(limit: Limit, window: Window, allowed: boolean, now: number): Allowance {
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
