/**
 * The notification stream: follows the journal and tells every consumer. Events are read back from the store after a
 * commit, once for all, so that what is sent is what was written.
 */
import { closeCodes, type HardwareEventType } from '../../src/contract/events.ts';
import type { CommitNotice, Store } from '../store/store.ts';
import { Consumer, type Listener } from './consumer.ts';
import { bitOf, journalTypes, type TypeSet, textFrame } from './frames.ts';
import { History } from './history.ts';
import { inSlices } from './slices.ts';
import { Tail } from './tail.ts';

export interface HubParts {
  readonly store: Pick<Store, 'events' | 'lastEventId' | 'onCommit'>;
  readonly log: { warn(details: object, message: string): void };
  /** Wall clock in milliseconds: when tokens end. */
  readonly now?: () => number;
  /** Milliseconds on a clock that only goes forward. */
  readonly monotonic?: () => number;
  /** Calls again and again; returns the way to stop. */
  readonly every?: (milliseconds: number, call: () => void) => () => void;
}

export interface Subscription extends Listener {
  readonly wanted: TypeSet;
  /** Id of the last event that the consumer has; null for one that wants what happens from now on. */
  readonly since: number | null;
}

/** What a connection tells of itself. */
export interface Connection {
  /** It takes more. */
  drained(): void;
  ponged(): void;
  /** It is over. */
  gone(): void;
}

export interface Hub {
  /** Resolves when the end of the journal is known. Rejects where the store cannot be read. */
  ready(): Promise<void>;
  /** Whether an id lies within the journal. Rejects where the store cannot be read. */
  reaches(since: number): Promise<boolean>;
  /** Begins a stream, once `ready`: nothing that is committed from this call on is missed. */
  subscribe(subscription: Subscription): Connection;
  /** Tells of a key. Such events are in no journal: who is not connected does not learn of them. */
  publish(type: HardwareEventType, at: number, data: object): void;
  /** Id of the last event known: a stream begun now without `since` is sent what comes after it. */
  readonly head: number;
  /** Streams open now, those that are being closed included. */
  readonly size: number;
  /** Ends all streams with 1001 and resolves when they are over. Idempotent. */
  close(): Promise<void>;
}

/** Milliseconds between two looks at all consumers. */
const SWEEP_EVERY = 1000;
/** Milliseconds that consumers have at shutdown to answer the close. */
const CLOSE_GRACE = 2000;

export function createHub(parts: HubParts): Hub {
  return new JournalHub(parts);
}

function everyInterval(milliseconds: number, call: () => void): () => void {
  const timer = setInterval(call, milliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

class JournalHub implements Hub {
  readonly #log: HubParts['log'];
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #tail: Tail;
  readonly #history: History;
  readonly #consumers = new Set<Consumer>();
  readonly #stops: (() => void)[];
  #spreading = false;
  #spreadAgain = false;
  #sweeping = false;
  #closing: Promise<void> | null = null;
  #allGone: (() => void) | null = null;

  constructor({ store, log, now = Date.now, monotonic = () => performance.now(), every = everyInterval }: HubParts) {
    this.#log = log;
    this.#now = now;
    this.#monotonic = monotonic;
    const failed = (error: unknown) => this.#warn(error, 'the journal could not be read for a stream');
    this.#tail = new Tail({ store, grown: () => this.#spread(), failed });
    this.#history = new History({ store, head: () => this.#tail.head, failed });
    this.#stops = [store.onCommit(notice => this.#committed(notice)), every(SWEEP_EVERY, () => void this.#sweep())];
  }

  get head(): number {
    return this.#tail.head;
  }

  get size(): number {
    return this.#consumers.size;
  }

  ready(): Promise<void> {
    return this.#tail.ready();
  }

  reaches(since: number): Promise<boolean> {
    return this.#tail.reaches(since);
  }

  subscribe({ wanted, since, ...listener }: Subscription): Connection {
    const { recent, head } = this.#tail;
    const askHistory = this.#history.ask.bind(this.#history);
    const outbox = { sink: listener.sink, recent, wanted, cursor: since ?? head, askHistory };
    const consumer = new Consumer(listener, outbox, this.#monotonic());
    this.#consumers.add(consumer);
    if (wanted & journalTypes) this.#tail.join();
    if (this.#closing) consumer.end(closeCodes.shuttingDown, 'the daemon is stopping');
    // A commit may have come between the check of the token and this.
    else void this.#recheck(consumer);
    consumer.pump();
    return {
      drained: () => consumer.pump(),
      ponged: () => consumer.pulse.ponged(),
      gone: () => this.#gone(consumer),
    };
  }

  publish(type: HardwareEventType, at: number, data: object): void {
    const bytes = textFrame(JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }));
    const frame = { type: bitOf(type), bytes, after: this.#tail.head };
    for (const consumer of this.#consumers) {
      if (consumer.ended || consumer.outbox.addKey(frame)) continue;
      consumer.end(closeCodes.tooSlow, 'too much waits; reconnect with since');
    }
    this.#spread();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const stop of this.#stops) stop();
    const allGone = new Promise<void>(resolve => {
      this.#allGone = resolve;
    });
    await inSlices(this.#consumers, consumer => consumer.end(closeCodes.shuttingDown, 'the daemon is stopping'));
    if (this.#consumers.size === 0) return;
    const grace = setTimeout(() => void inSlices(this.#consumers, consumer => consumer.cutOff()), CLOSE_GRACE);
    await allGone;
    clearTimeout(grace);
  }

  #gone(consumer: Consumer): void {
    consumer.ended = true;
    if (!this.#consumers.delete(consumer)) return;
    this.#history.forget(consumer.outbox);
    if (consumer.outbox.wanted & journalTypes) this.#tail.leave();
    if (this.#consumers.size === 0) this.#allGone?.();
  }

  #committed({ lastEventId, users }: CommitNotice): void {
    this.#tail.committed(lastEventId);
    if (users.length === 0) return;
    for (const consumer of this.#consumers)
      if (consumer.listener.user !== null && users.includes(consumer.listener.user)) consumer.suspect = true;
    // Others who hear of the commit (those who remember users) come first.
    setImmediate(() => {
      void inSlices(this.#consumers, consumer => {
        if (consumer.suspect) void this.#recheck(consumer);
      });
    });
  }

  /** Has every consumer sent what there is for it. */
  #spread(): void {
    this.#spreadAgain = true;
    if (!this.#spreading) void this.#spreadAll();
  }

  async #spreadAll(): Promise<void> {
    this.#spreading = true;
    while (this.#spreadAgain) {
      this.#spreadAgain = false;
      await inSlices(this.#consumers, consumer => consumer.pump());
    }
    this.#spreading = false;
  }

  /** Ends what has expired, is stuck or silent; tries again what failed. */
  async #sweep(): Promise<void> {
    if (this.#sweeping || this.#closing) return;
    this.#sweeping = true;
    void this.#tail.follow();
    await inSlices(this.#consumers, consumer => this.#examine(consumer));
    this.#sweeping = false;
  }

  #examine(consumer: Consumer): void {
    if (consumer.ended) return;
    if (consumer.listener.expiresAt * 1000 <= this.#now()) {
      consumer.end(closeCodes.loggedOut, 'the token has expired; log in again');
      return;
    }
    if (consumer.suspect) void this.#recheck(consumer);
    const health = consumer.pulse.check(this.#monotonic());
    if (health === 'slow') consumer.end(closeCodes.tooSlow, 'too slow; reconnect with since');
    else if (health === 'silent') consumer.cutOff();
    else consumer.pump();
  }

  async #recheck(consumer: Consumer): Promise<void> {
    consumer.suspect = false;
    try {
      if (!(await consumer.listener.stillGood())) consumer.end(closeCodes.loggedOut, 'logged out; log in again');
    } catch (error) {
      consumer.suspect = true;
      this.#warn(error, 'whether a stream may go on could not be found out');
    }
  }

  #warn(error: unknown, message: string): void {
    this.#log.warn({ err: error }, `${message}; it is tried again`);
  }
}
