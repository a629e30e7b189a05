/** Hands events to a target: at most so many at a time, the events of one device in order. */
import pLimit from 'p-limit';
import type { Notification } from '../../../../contract/events.ts';

/** What a dispatcher works with. */
interface DispatchOptions {
  readonly concurrency: number;
  /** Delivers one event. A rejection ends the dispatcher. */
  readonly deliver: (event: Notification) => Promise<void>;
  /** Called with the id of an event when it and all before it are delivered. */
  readonly onDelivered: (id: number) => void;
}

interface Pending {
  readonly id: number | undefined;
  isDone: boolean;
}

/** Events of other devices that may wait behind those of one device, for each event that is delivered at a time. */
const waitingPerDelivery = 8;

/** Takes events as fast as they are delivered; memory is bounded by the concurrency. */
export class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #maxPending: number;
  /** Accepted events in their order, until they and all before them are delivered. */
  readonly #pending: Pending[] = [];
  /** The last delivery of each device. */
  readonly #tails = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;
  /** Deliveries that succeeded. */
  delivered = 0;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
    this.#maxPending = options.concurrency === 1 ? 1 : options.concurrency * waitingPerDelivery;
  }

  /** Whether deliveries are under way. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Resolves when there is room for another event. Rejects with the error of a delivery that failed. */
  async accept(event: Notification): Promise<void> {
    const pending: Pending = { id: event.id, isDone: false };
    this.#pending.push(pending);
    const key = String(event.data.deviceId ?? event.data.versionId ?? event.data.serialNumber ?? '');
    const before = this.#tails.get(key) ?? Promise.resolve();
    const delivery = before.then(() => this.#limit(() => this.#deliver(event, pending)));
    this.#tails.set(key, delivery);
    this.#running.add(delivery);
    void delivery.then(() => {
      this.#running.delete(delivery);
      if (this.#tails.get(key) === delivery) this.#tails.delete(key);
    });
    while (this.#pending.length >= this.#maxPending && this.#failure === null) await Promise.race(this.#running);
    if (this.#failure !== null) await this.drain();
  }

  /** Resolves when all accepted events are delivered. Rejects with the error of a delivery that failed. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
    this.#check();
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Never rejects. After a failure no further delivery begins. */
  async #deliver(event: Notification, pending: Pending): Promise<void> {
    if (this.#failure !== null) return;
    try {
      await this.#options.deliver(event);
      this.delivered++;
      pending.isDone = true;
      this.#advance();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #advance(): void {
    let last: number | undefined;
    while (this.#pending[0]?.isDone) last = this.#pending.shift()!.id ?? last;
    if (last !== undefined) this.#options.onDelivered(last);
  }
}
