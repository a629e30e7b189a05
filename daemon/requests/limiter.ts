import { ApiError } from '../../src/contract/codes.ts';
import { type Limit, type LimitScope, rateLimits } from '../../src/contract/limits.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import type { WindowRequest, WindowState } from '../store/short-lived.ts';

/** Limits of work that costs one daemon alone: no other node shares these windows. */
const scopesHere = ['document', 'signIn', 'decide', 'unknownKey', 'holder'] as const satisfies readonly LimitScope[];
type ScopeHere = (typeof scopesHere)[number];
export const isHere = (scope: LimitScope): scope is ScopeHere => scopesHere.includes(scope as ScopeHere);

/** The limit of each scope; null if it has none. Without one of `scopesHere`, its default holds. */
export type Limits = Readonly<
  Record<Exclude<LimitScope, ScopeHere>, Limit | null> & Partial<Record<ScopeHere, Limit | null>>
>;

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

/** The window of a limit, of which one request is taken. */
export const windowOf = (scope: LimitScope, key: string, { count, seconds }: Limit): WindowRequest => ({
  scope,
  key,
  most: count,
  milliseconds: seconds * 1000,
});

/** The state of a window of `limit`. */
export function allowanceOf(
  { granted, used, left, endsAt }: Pick<WindowState, 'granted' | 'used' | 'left' | 'endsAt'>,
  limit: number,
): Allowance {
  return {
    allowed: granted > 0,
    limit,
    remaining: Math.max(0, limit - used),
    resetAt: Math.ceil(endsAt / 1000),
    retryAfter: Math.max(1, Math.ceil(left / 1000)),
  };
}

/** Windows in the memory of one daemon. */
export class Limiter implements RequestLimits {
  readonly #limits: Readonly<Record<LimitScope, Limit | null>>;
  readonly #counters: MemoryCounters;

  constructor(limits: Limits = rateLimits, counters = new MemoryCounters()) {
    this.#limits = { ...rateLimits, ...limits };
    this.#counters = counters;
  }

  count(scope: LimitScope, key: string): Allowance | null {
    const limit = this.#limits[scope];
    return limit && allowanceOf(this.#counters.take(windowOf(scope, key, limit)), limit.count);
  }

  countHere(scope: LimitScope, key: string): Allowance | null {
    return this.count(scope, key);
  }

  giveBack(scope: LimitScope, key: string): void {
    this.#counters.giveBack(scope, key, 1);
  }

  async stop(): Promise<void> {}
}
