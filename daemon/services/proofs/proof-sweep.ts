import { proofBounds } from '../../../src/contract/limits.ts';
import { StoreFailure } from '../../store/commit.ts';
import type { Store } from '../../store/store.ts';

/** Milliseconds between two sweeps. */
const INTERVAL_MS = 60_000;
const LIFETIME_MS = proofBounds.unregisteredHours * 3_600_000;

/** Removes answers for serial numbers that no one registers, once a minute. */
export class ProofSweep {
  readonly #store: Pick<Store, 'commit'>;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, 'commit'>, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#timer = setInterval(() => {
      this.#running = this.sweep();
    }, INTERVAL_MS).unref();
  }

  /** If the store cannot write, the next sweep tries again. */
  async sweep(): Promise<void> {
    const at = this.#now();
    const change = { kind: 'proof.expire', until: at - LIFETIME_MS, total: proofBounds.unregisteredTotal } as const;
    try {
      await this.#store.commit({ at, actor: null, requestId: null, changes: [change] });
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
    }
  }

  /** Waits for the sweep that runs. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
