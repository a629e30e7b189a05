import { limitConcurrency } from '../concurrency.ts';
import type { Reader } from '../store/store.ts';
import { type Block, blocksOf } from './block.ts';
import { journalTypes, typesIn } from './frames.ts';
import type { Outbox } from './outbox.ts';

/** Entries per read: what waits in memory for one consumer stays far below the bound. */
const BATCH = 250;
/** Reads at the same time; other consumers wait. */
const MAX_READS = 4;

/** What `History` works with. */
export interface HistoryOptions {
  readonly store: Pick<Reader, 'events'>;
  /** Id up to which the journal is known to be readable. */
  readonly head: () => number;
  readonly onError: (error: unknown) => void;
}

/** Reads older ranges of the journal for consumers that are behind. */
export class History {
  readonly #options: HistoryOptions;
  readonly #waiting = new Set<Outbox>();
  readonly #limit = limitConcurrency(MAX_READS);

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Reads the next range for an outbox when it is its turn. */
  request(outbox: Outbox): void {
    this.#waiting.add(outbox);
    void this.#limit(() => this.#serve(outbox));
  }

  /** Drops a request that has not started. */
  cancel(outbox: Outbox): void {
    this.#waiting.delete(outbox);
  }

  async #serve(outbox: Outbox): Promise<void> {
    if (!this.#waiting.delete(outbox)) return;
    try {
      const { blocks, through } = await this.#read(outbox);
      outbox.receiveHistory(blocks, through);
    } catch (error) {
      outbox.historyFailed();
      this.#options.onError(error);
    }
    // Reads of an embedded database hold the event loop: other work runs between two of them.
    await new Promise(setImmediate);
  }

  async #read({ cursor, wanted }: Outbox): Promise<{ blocks: Block[]; through: number }> {
    const head = this.#options.head();
    const types = (wanted & journalTypes) === journalTypes ? undefined : typesIn(wanted);
    const events = await this.#options.store.events({ after: cursor, limit: BATCH, types });
    const last = events.at(-1)?.id ?? cursor;
    // An incomplete batch contains everything up to the head before the read, and perhaps more.
    return { blocks: blocksOf(events, cursor), through: events.length < BATCH ? Math.max(head, last) : last };
  }
}
