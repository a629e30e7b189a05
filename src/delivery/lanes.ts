/** Items side by side: at most so many at a time, those with one key in order. */
import pLimit from 'p-limit';

/** Delivers one item. Calls `complete` when it counts as delivered, and resolves with whether further items may begin. */
type DeliverItem = (complete: () => number | undefined) => Promise<boolean>;

/** Items of other keys that may wait behind those of one key, for each item that is delivered at a time. */
const waitingPerDelivery = 8;

/** Accepts items as fast as they are delivered; memory is bounded by the concurrency. */
export class Lanes {
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #maxEntries: number;
  /** Accepted items in their order, until they and all before them are complete. */
  readonly #entries: { readonly id: number | undefined; isComplete: boolean }[] = [];
  /** The last delivery of each key. */
  readonly #tails = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;
  #isClosed = false;

  constructor(concurrency: number) {
    this.#limit = pLimit(concurrency);
    this.#maxEntries = concurrency === 1 ? 1 : concurrency * waitingPerDelivery;
  }

  /** Whether deliveries are under way. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether no further item begins. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when there is room for another item. Rejects with the error of a delivery that failed, after the others have ended. */
  async accept(
    { id, key = '' }: { readonly id: number | undefined; readonly key?: string },
    deliver: DeliverItem,
  ): Promise<void> {
    const entry = { id, isComplete: false };
    this.#entries.push(entry);
    const complete = () => {
      entry.isComplete = true;
      return this.#advance();
    };
    const before = this.#tails.get(key) ?? Promise.resolve();
    const delivery = before.then(() => this.#limit(() => this.#deliver(deliver, complete)));
    this.#tails.set(key, delivery);
    this.#running.add(delivery);
    void delivery.then(() => {
      this.#running.delete(delivery);
      if (this.#tails.get(key) === delivery) this.#tails.delete(key);
    });
    while (this.#entries.length >= this.#maxEntries && !this.#isClosed) await Promise.race(this.#running);
    if (this.#isClosed) await this.drain();
  }

  /** Resolves when all accepted items have ended. Rejects with the error of a delivery that failed. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Never rejects. */
  async #deliver(deliver: DeliverItem, complete: () => number | undefined): Promise<void> {
    if (this.#isClosed) return;
    try {
      this.#isClosed = !(await deliver(complete)) || this.#isClosed;
    } catch (error) {
      this.#failure ??= { error };
      this.#isClosed = true;
    }
  }

  /** Position of the last item that is complete with all before it; undefined if that has not changed. */
  #advance(): number | undefined {
    let last: number | undefined;
    while (this.#entries[0]?.isComplete) last = this.#entries.shift()!.id ?? last;
    return last;
  }
}
