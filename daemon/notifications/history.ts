import { setTimeout as sleep } from 'node:timers/promises';
import { limitConcurrency } from '../base/concurrency.ts';
import type { Reader } from '../store/store.ts';
import { entriesOfTypes } from './administration.ts';
import { blocksOf, type JournalBlock } from './block.ts';
import { journalTypes, typesIn } from './frames.ts';
import type { Outbox } from './outbox.ts';

/** Entries per read: what waits in memory for one consumer stays far below the bound. */
const BATCH = 250;
/** Reads at the same time. */
const MAX_READS = 4;
/** Consumers of one holder that catch up at the same time; the others wait until one of them has caught up. */
const MAX_REPLAYS = 4;
/** Milliseconds after a read during which it still counts as one of `MAX_READS`: at most 200 reads per second. */
const PAUSE_MS = 20;

/** Dependencies of `History`. */
export interface HistoryOptions {
  readonly store: Pick<Reader, 'events'>;
  /** Id up to which the journal is known to be readable. */
  readonly head: () => number;
  readonly onError: (error: unknown) => void;
  /** Waits; tests replace it. */
  readonly pause?: ((milliseconds: number) => Promise<unknown>) | undefined;
}

/** The consumers of one holder that are behind. */
class StreamReplays {
  /** Consumers that have started to catch up. */
  readonly #started = new Set<Outbox>();
  /** Started consumers that wait for their next read. */
  readonly #requesting = new Set<Outbox>();
  /** Consumers that have not started. */
  readonly #waiting = new Set<Outbox>();

  request(outbox: Outbox): void {
    (this.#started.has(outbox) ? this.#requesting : this.#waiting).add(outbox);
  }

  release(outbox: Outbox): void {
    for (const set of [this.#started, this.#requesting, this.#waiting]) set.delete(outbox);
  }

  /** Takes the consumer whose turn it is; null if none may read now. */
  take(): Outbox | null {
    const [next] = this.#requesting;
    if (next) {
      this.#requesting.delete(next);
      return next;
    }
    const [first] = this.#waiting;
    if (!first || this.#started.size >= MAX_REPLAYS) return null;
    this.#waiting.delete(first);
    this.#started.add(first);
    return first;
  }

  get isEmpty(): boolean {
    return this.#started.size === 0 && this.#waiting.size === 0;
  }
}

/**
 * Reads older ranges of the journal for consumers that are behind. Holders of tokens take turns, however many consumers each of them has,
 * and the number of reads per second is bounded for all of them together.
 */
export class History {
  readonly #options: HistoryOptions;
  readonly #pause: (milliseconds: number) => Promise<unknown>;
  readonly #limit = limitConcurrency(MAX_READS);
  /** By holder (see `requests/callers.ts`). The one that has waited longest comes first. */
  readonly #holders = new Map<string, StreamReplays>();

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#pause = options.pause ?? (milliseconds => sleep(milliseconds, undefined, { ref: false }));
  }

  /** Reads the next range for an outbox of this holder when it is its turn. */
  request(outbox: Outbox, holder: string): void {
    const replays = this.#holders.get(holder) ?? new StreamReplays();
    this.#holders.set(holder, replays);
    replays.request(outbox);
    void this.#limit(() => this.#serveNext());
  }

  /** An outbox has caught up or is gone: another one of its holder may start. */
  release(outbox: Outbox, holder: string): void {
    const replays = this.#holders.get(holder);
    replays?.release(outbox);
    if (replays?.isEmpty) this.#holders.delete(holder);
    else if (replays) void this.#limit(() => this.#serveNext());
  }

  async #serveNext(): Promise<void> {
    const outbox = this.#takeNext();
    if (!outbox) return;
    try {
      const forAdmin = outbox.withActor;
      const { blocks, through } = await this.#read(outbox, forAdmin);
      outbox.receiveHistory(blocks, through, forAdmin);
    } catch (error) {
      outbox.historyFailed();
      this.#options.onError(error);
    }
    // Reads of an embedded database hold the event loop: other work runs between two of them.
    await this.#pause(PAUSE_MS);
  }

  #takeNext(): Outbox | null {
    for (const [holder, replays] of this.#holders) {
      const outbox = replays.take();
      if (!outbox) continue;
      this.#holders.delete(holder);
      this.#holders.set(holder, replays);
      return outbox;
    }
    return null;
  }

  async #read(
    { cursor, wanted, device }: Outbox,
    forAdmin: boolean,
  ): Promise<{ blocks: JournalBlock[]; through: number }> {
    const head = this.#options.head();
    const ofTypes = (wanted & journalTypes) === journalTypes ? {} : entriesOfTypes(typesIn(wanted));
    const events = await this.#options.store.events({
      after: cursor,
      through: head,
      limit: BATCH,
      ...ofTypes,
      device: device ?? undefined,
    });
    const last = events.at(-1)?.id ?? cursor;
    // An incomplete batch contains everything up to the head before the read.
    return {
      blocks: blocksOf(events, cursor, forAdmin),
      through: events.length < BATCH ? Math.max(head, last) : last,
    };
  }
}
