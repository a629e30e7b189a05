/** Work that becomes due at some time, done by one daemon of a registry at a time. */

import { sleep } from '../../src/delivery/wait.ts';
import { BackgroundWork } from '../base/background-work.ts';
import type { Logger } from '../base/logger.ts';
import { Conflict } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { inTurn } from './turns.ts';

/** Milliseconds between two looks, and until another one after a failure. */
const LOOK_MS = 1000;
const FAILED_LOOK_MS = 5000;

interface DueWorkParts {
  readonly store: Pick<Store, 'sharedWork'>;
  readonly log: Logger;
}

/** How one kind of work is done. `turn`: another daemon may have the work now, or this one stops. */
export interface DueTask {
  /** The name of the work that daemons share, and what stays undone after a failure, for the log. */
  readonly work: string;
  readonly undone: string;
  /** Called when this daemon takes the work: another one may have done it since. */
  begin?(turn: AbortSignal): void;
  /** Does a part of the due work; resolves with whether there may be more. */
  look(turn: AbortSignal): Promise<boolean>;
  /** Resolves when it is time for the next look; absent: after a second. */
  wait?(turn: AbortSignal): Promise<void>;
  /** Whether the first look waits as well. */
  readonly waitsFirst?: true;
  /** Called when this daemon gives up the work. Resolves when what was begun has ended. */
  end?(): Promise<void>;
}

/** Works in the background until it is stopped. */
export class DueWork extends BackgroundWork {
  readonly #parts: DueWorkParts;
  readonly #task: DueTask;

  constructor(parts: DueWorkParts, task: DueTask) {
    super();
    this.#parts = parts;
    this.#task = task;
  }

  protected async run(signal: AbortSignal): Promise<void> {
    const { sharedWork } = this.#parts.store;
    while (!signal.aborted) await inTurn(sharedWork, this.#task.work, signal, turn => this.#take(turn));
  }

  async #take(turn: AbortSignal): Promise<void> {
    const task = this.#task;
    const wait = () => task.wait?.(turn) ?? sleep(LOOK_MS, turn);
    task.begin?.(turn);
    if (task.waitsFirst) await wait();
    while (!turn.aborted) {
      try {
        if (!(await task.look(turn))) await wait();
      } catch (error) {
        if (!(error instanceof Conflict)) this.#parts.log.warn({ err: error }, task.undone);
        await sleep(FAILED_LOOK_MS, turn);
      }
    }
    await task.end?.();
  }
}
