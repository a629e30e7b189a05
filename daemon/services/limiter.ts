import { type Limit, type LimitScope, rateLimits } from '../../src/contract/limits.ts';

export type Limits = Readonly<Record<LimitScope, Limit | null>>;

/** What a request may be told about its window. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in whole seconds at which the window ends; never earlier than it really does. */
  readonly resetAt: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

interface Window {
  count: number;
  /** On the monotonic clock: a wall clock that jumps neither locks out nor lets in. */
  readonly endsAt: number;
}

export interface LimiterClocks {
  /** Milliseconds on a clock that only ever goes forward. */
  readonly monotonic: () => number;
  readonly wall: () => number;
}

const SWEEP_AT = 10_000;

/** Fixed windows that begin with the first request, one for each scope and key (a user, or an address at login). */
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

  /** Counts one request; null where the scope has no limit. A request beyond the limit is not counted: it changes nothing. */
  count(scope: LimitScope, key: string): Allowance | null {
    const limit = this.#limits[scope];
    if (!limit) return null;
    const now = this.#clocks.monotonic();
    const window = this.#window(scope, key, limit, now);
    const allowed = window.count < limit.count;
    if (allowed) window.count++;
    return this.#describe(limit, window, allowed, now);
  }

  /** Takes back one `count` of this window. */
  giveBack(scope: LimitScope, key: string): void {
    const window = this.#windows[scope].get(key);
    if (window && window.count > 0) window.count--;
  }

  #window(scope: LimitScope, key: string, limit: Limit, now: number): Window {
    const windows = this.#windows[scope];
    const found = windows.get(key);
    if (found && found.endsAt > now) return found;
    if (windows.size >= SWEEP_AT) for (const [name, window] of windows) if (window.endsAt <= now) windows.delete(name);
    const begun = { count: 0, endsAt: now + limit.seconds * 1000 };
    windows.set(key, begun);
    return begun;
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
