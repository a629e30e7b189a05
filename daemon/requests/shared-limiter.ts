/** Limits that the daemons of one registry share. */
import type { Limit, LimitScope } from '../../src/contract/limits.ts';
import { TurnBatch } from '../base/concurrency.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import type { SharedCounters } from '../store/short-lived.ts';
import type { Store } from '../store/store.ts';
import { localHolder } from './callers.ts';
import { Leases } from './leases.ts';
import { type Allowance, allowanceOf, isHere, Limiter, type Limits, type RequestLimits, windowOf } from './limiter.ts';

/** The limits of a daemon: shared if its store has several handles. */
export function requestLimits({ shortLived }: Pick<Store, 'shortLived'>, limits: Limits): RequestLimits {
  return shortLived ? new SharedLimiter(limits, shortLived.counters) : new Limiter(limits);
}

/** A request that waits for its count. */
interface PendingCount {
  readonly resolve: (allowance: Allowance) => void;
  readonly reject: (error: unknown) => void;
}

/** Counts logins, changes and uploads, and queries in portions. Concurrent requests of one holder take one statement. */
export class SharedLimiter implements RequestLimits {
  readonly #limits: Limits;
  readonly #counters: SharedCounters;
  readonly #here: Limiter;
  readonly #queries: Leases | null;
  /** By scope and key, while requests are counted. */
  readonly #batches = new Map<string, TurnBatch<PendingCount>>();

  constructor(limits: Limits, counters: SharedCounters, monotonic = () => performance.now()) {
    this.#limits = limits;
    this.#counters = counters;
    this.#here = new Limiter(limits, new MemoryCounters({ monotonic }));
    this.#queries = limits.query && new Leases({ counters, scope: 'query', limit: limits.query, monotonic });
  }

  count(scope: LimitScope, key: string): Allowance | null | Promise<Allowance> {
    // The local user of each machine is another one.
    if (key === localHolder || isHere(scope)) return this.#here.count(scope, key);
    const limit = this.#limits[scope];
    if (!limit) return null;
    return scope === 'query' && this.#queries ? this.#queries.count(key) : this.#take(scope, key, limit);
  }

  countHere(scope: LimitScope, key: string): Allowance | null {
    return this.#here.countHere(scope, key);
  }

  giveBack(scope: LimitScope, key: string): void {
    if (key === localHolder || isHere(scope)) this.#here.giveBack(scope, key);
    // An amount that cannot be given back stays counted until the window ends.
    else this.#counters.giveBack(scope, key, 1).catch(() => {});
  }

  /** Gives back the unused requests of ended leases. A timer does the same twice a second. */
  async returnEnded(): Promise<void> {
    await this.#queries?.returnEnded();
  }

  async stop(): Promise<void> {
    await this.#queries?.stop();
  }

  #take(scope: LimitScope, key: string, limit: Limit): Promise<Allowance> {
    const name = `${scope} ${key}`;
    const batch = this.#batches.get(name) ?? new TurnBatch({ handle: all => this.#takeAll(scope, key, limit, all) });
    const isNew = !batch.busy;
    const counted = new Promise<Allowance>((resolve, reject) => batch.add({ resolve, reject }));
    if (isNew) {
      this.#batches.set(name, batch);
      void batch.idle().then(() => this.#batches.delete(name));
    }
    return counted;
  }

  /** As if each had been counted alone, in the order in which they came. */
  async #takeAll(scope: LimitScope, key: string, limit: Limit, all: readonly PendingCount[]): Promise<void> {
    try {
      const taken = await this.#counters.take({ ...windowOf(scope, key, limit), want: all.length });
      for (const [place, { resolve }] of all.entries()) {
        const later = Math.max(0, taken.granted - place - 1);
        resolve(allowanceOf({ ...taken, granted: taken.granted - place, used: taken.used - later }, limit.count));
      }
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }
}
