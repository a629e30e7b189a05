/** Delivers to all endpoints of a registry. Of several daemons one delivers at a time; another takes over when it has gone. */
import { sleep } from '../../src/delivery/wait.ts';
import { JournalTail } from '../background/journal-tail.ts';
import { inTurn } from '../background/turns.ts';
import { BackgroundWork } from '../base/background-work.ts';
import type { Store } from '../store/store.ts';
import { type EndpointParts, endpointDelivery } from './endpoint.ts';
import { WEBHOOKS, type WebhookRecord, webhooksIn } from './records.ts';

/** The name of the work that daemons share. */
const WORK = 'webhooks';
/** Milliseconds between two looks at the endpoints while entries arrive, and until another one after a failure. */
const LOOK_MS = 250;
const FAILED_LOOK_MS = 2000;

/** Dependencies of the deliveries. */
interface DeliveriesParts extends Omit<EndpointParts, 'store' | 'tail'> {
  readonly store: EndpointParts['store'] & Pick<Store, 'events' | 'onCommit' | 'sharedWork' | 'documentVersion'>;
}

interface RunningDelivery {
  readonly record: WebhookRecord;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** The deliveries of this daemon, in the background until they are stopped: a post in progress then gets two seconds to end. */
export class WebhookDeliveries extends BackgroundWork {
  readonly #parts: DeliveriesParts;
  readonly #tail: JournalTail;
  readonly #running = new Map<number, RunningDelivery>();
  /** By number: deliveries that were stopped and have not ended. */
  readonly #ending = new Map<number, Promise<void>>();
  #changed = Promise.withResolvers<void>();
  #looking = false;
  /** Version of the document whose endpoints are running. */
  #version = 0;

  constructor(parts: DeliveriesParts) {
    super();
    this.#parts = parts;
    this.#tail = new JournalTail(parts.store);
  }

  /** Endpoints were created, changed or removed. */
  changed(): void {
    this.#changed.resolve();
  }

  /** Looks for changes that another daemon or a delivery has made: at most one look at a time, however many entries arrive. */
  async #look(signal: AbortSignal): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    await sleep(LOOK_MS, signal);
    this.#looking = false;
    const version = await this.#parts.store.documentVersion(WEBHOOKS).catch(() => this.#version);
    if (version !== this.#version) this.changed();
  }

  protected async run(signal: AbortSignal): Promise<void> {
    const unfollow = this.#tail.follow(() => void this.#look(signal));
    while (!signal.aborted) {
      if ((await this.#enabled(signal)).length === 0) {
        await this.#nextChange(signal);
        continue;
      }
      await inTurn(this.#parts.store.sharedWork, WORK, signal, turn => this.#deliver(turn));
    }
    unfollow();
  }

  /** Delivers until the signal is aborted or no endpoint is enabled. */
  async #deliver(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wanted = await this.#enabled(signal);
      this.#match(wanted);
      if (wanted.length === 0) break;
      await this.#nextChange(signal);
    }
    this.#match([]);
    await Promise.all(this.#ending.values());
  }

  /** Starts and ends deliveries until they are those of the endpoints. One that was enabled again starts over. */
  #match(wanted: readonly WebhookRecord[]): void {
    for (const [number, { record, stop, done }] of this.#running) {
      if (wanted.some(one => one.number === number && one.enabledAt === record.enabledAt)) continue;
      stop.abort();
      this.#running.delete(number);
      this.#ending.set(number, done);
      void done.then(() => this.#ending.get(number) === done && this.#ending.delete(number));
    }
    for (const record of wanted) {
      if (this.#running.has(record.number)) continue;
      const delivery = endpointDelivery({ ...this.#parts, tail: this.#tail }, record);
      const stop = new AbortController();
      const before = this.#ending.get(record.number) ?? Promise.resolve();
      const done = before.then(() => delivery.run(stop.signal));
      this.#running.set(record.number, { record, stop, done });
    }
  }

  /** The endpoints that are not disabled. While the store does not answer, those that are running. */
  async #enabled(signal: AbortSignal): Promise<readonly WebhookRecord[]> {
    // Before the read: a change during the read must not be missed.
    this.#changed = Promise.withResolvers<void>();
    try {
      const { version, list } = webhooksIn(await this.#parts.store.document(WEBHOOKS));
      this.#version = version;
      return list.filter(({ disabled }) => disabled === null);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the webhooks could not be read');
      await sleep(FAILED_LOOK_MS, signal);
      this.changed();
      return [...this.#running.values()].map(({ record }) => record);
    }
  }

  async #nextChange(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
    if (!signal.aborted) await Promise.race([this.#changed.promise, aborted]);
  }
}
