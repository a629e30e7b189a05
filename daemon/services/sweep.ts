import { hourMs } from '../../src/contract/durations.ts';
import { idempotency, proofBounds } from '../../src/contract/limits.ts';
import { every } from '../concurrency.ts';
import { type Change, StoreFailure } from '../store/commit.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds between two sweeps. */
const INTERVAL_MS = 60_000;
/** Responses that one transaction removes: other commits wait for it. */
const PORTION = 100;

/** Dependencies of a sweep. */
interface SweepParts {
  readonly store: Pick<Store, 'commit'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type Expiry = Extract<Change, { kind: 'response.expire' | 'proof.expire' }>;

/** Removes what has expired, once a minute, in transactions of the size that the change names. */
export class Sweep {
  readonly #parts: SweepParts;
  readonly #expiryAt: (now: number) => Expiry;
  readonly #stopTimer: () => void;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(parts: SweepParts, expiryAt: (now: number) => Expiry) {
    this.#parts = parts;
    this.#expiryAt = expiryAt;
    this.#stopTimer = every(INTERVAL_MS, () => void this.sweep());
  }

  /** Removes everything that has expired. A call during a sweep joins it. If the store cannot write, the next sweep tries again. */
  sweep(): Promise<void> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #sweep(): Promise<void> {
    for (let hasMore = true; hasMore && !this.#stopped; ) {
      const at = this.#parts.now();
      const change = this.#expiryAt(at);
      try {
        const [result] = await this.#parts.store.commit({ at, actor: null, requestId: null, changes: [change] });
        hasMore = 'most' in change && result?.kind === 'removed' && result.count === change.most;
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error;
        return;
      }
    }
  }

  /** Waits for the transaction that runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopTimer();
    await this.#running;
  }
}

/**
 * Removes expired responses. A clock that is set back for less than a day removes nothing too early or too late; responses that were
 * stored while it was further ahead are removed too.
 */
export const responseSweep = (parts: SweepParts): Sweep =>
  new Sweep(parts, now => ({
    kind: 'response.expire',
    until: now,
    beyond: now + 2 * idempotency.hours * hourMs,
    most: PORTION,
  }));

/** Removes answers for serial numbers that no one registers. */
export const proofSweep = (parts: SweepParts): Sweep =>
  new Sweep(parts, now => ({
    kind: 'proof.expire',
    until: now - proofBounds.unregisteredHours * hourMs,
    total: proofBounds.unregisteredTotal,
  }));
