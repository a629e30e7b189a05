/** Work that becomes due at some time, done by one daemon of a registry at a time. */

import { sleep } from '../../src/delivery/wait.ts';
import { BackgroundWork } from '../background-work.ts';
import { inTurn } from '../delivery/turns.ts';
import type { Logger } from '../logger.ts';
import { Conflict } from '../store/commit.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds between two looks, and until another one after a failure. */
const LOOK_MS = 1000;
const FAILED_LOOK_MS = 5000;

/** Dependencies of all such work. */
export interface DueWorkParts {
  readonly store: Pick<Store, 'sharedWork'>;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Works in the background until it is stopped. */
export abstract class DueWork<P extends DueWorkParts> extends BackgroundWork {
  protected readonly parts: P;

  constructor(parts: P) {
    super();
    this.parts = parts;
  }

  /** The name of the work that daemons share, and what stays undone after a failure, for the log. */
  protected abstract readonly work: string;
  protected abstract readonly undone: string;
  /** Does a part of the due work; resolves with whether there may be more. `signal`: another daemon takes over, or this one stops. */
  abstract doDue(signal: AbortSignal): Promise<boolean>;
  /** Called when this daemon takes the work. */
  protected begin(): void {}

  protected async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await inTurn(this.parts.store.sharedWork, this.work, signal, turn => this.#look(turn));
  }

  async #look(signal: AbortSignal): Promise<void> {
    this.begin();
    while (!signal.aborted) {
      try {
        const hasMore = await this.doDue(signal);
        if (!hasMore) await sleep(LOOK_MS, signal);
      } catch (error) {
        if (!(error instanceof Conflict)) this.parts.log.warn({ err: error }, this.undone);
        await sleep(FAILED_LOOK_MS, signal);
      }
    }
  }
}
