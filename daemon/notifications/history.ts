import type { Reader } from '../store/store.ts';
import { type Block, blocksOf } from './block.ts';
import { journalTypes, typesIn } from './frames.ts';
import type { Outbox } from './outbox.ts';

/** Entries read for one consumer at a time: what waits in memory for it stays far below the bound. */
const PORTION = 250;
/** Reads under way at once; the other consumers wait their turn. */
const AT_ONCE = 4;

export interface HistoryParts {
  readonly store: Pick<Reader, 'events'>;
  /** Id up to which the journal is known to be readable. */
  readonly head: () => number;
  readonly failed: (error: unknown) => void;
}

/** Reads older stretches of the journal for consumers that are behind. */
export class History {
  readonly #parts: HistoryParts;
  readonly #waiting = new Set<Outbox>();
  #running = 0;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  ask(outbox: Outbox): void {
    this.#waiting.add(outbox);
    if (this.#running < AT_ONCE) void this.#work();
  }

  forget(outbox: Outbox): void {
    this.#waiting.delete(outbox);
  }

  async #work(): Promise<void> {
    this.#running++;
    for (const outbox of this.#waiting) {
      this.#waiting.delete(outbox);
      try {
        const { blocks, through } = await this.#read(outbox);
        outbox.takeHistory(blocks, through);
      } catch (error) {
        outbox.historyFailed();
        this.#parts.failed(error);
      }
      // Reads of an embedded database take the event loop: others come between.
      await new Promise(setImmediate);
    }
    this.#running--;
  }

  async #read({ cursor, wanted }: Outbox): Promise<{ blocks: Block[]; through: number }> {
    const head = this.#parts.head();
    const types = (wanted & journalTypes) === journalTypes ? undefined : typesIn(wanted);
    const events = await this.#parts.store.events({ after: cursor, limit: PORTION, types });
    const last = events.at(-1)?.id ?? cursor;
    // Fewer than asked for: there was no more up to what was known before the read, and perhaps beyond.
    return { blocks: blocksOf(events, cursor), through: events.length < PORTION ? Math.max(head, last) : last };
  }
}
