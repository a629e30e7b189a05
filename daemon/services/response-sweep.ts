import { idempotency } from '../../src/contract/limits.ts';
import { StoreFailure } from '../store/commit.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds between two sweeps. */
const INTERVAL_MS = 60_000;
const LIFETIME_MS = idempotency.hours * 3_600_000;
/** Responses that one transaction removes: other commits wait for it. */
const PORTION = 100;

/** What `ResponseSweep` works with. */
interface ResponseSweepParts {
  readonly store: Pick<Store, 'commit'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Removes expired responses once a minute, in small transactions. A clock that is set back for less than a day removes nothing
 * too early or too late; responses that were stored while it was further ahead are removed too.
 */
export class ResponseSweep {
  readonly #parts: ResponseSweepParts;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(parts: ResponseSweepParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.sweep(), INTERVAL_MS).unref();
  }

  /** Removes everything that has expired. A call during a sweep joins it. If the store cannot write, the next sweep tries again. */
  sweep(): Promise<void> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #sweep(): Promise<void> {
    let removed = PORTION;
    while (removed === PORTION && !this.#stopped) {
      const until = this.#parts.now();
      const change = {
        kind: 'response.expire',
        until,
        beyond: until + 2 * LIFETIME_MS,
        most: PORTION,
      } as const;
      try {
        const [result] = await this.#parts.store.commit({
          at: until,
          actor: null,
          requestId: null,
          changes: [change],
        });
        removed = result?.kind === 'removed' ? result.count : 0;
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error;
        return;
      }
    }
  }

  /** Waits for the portion that is being removed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }
}
