/**
 * The notification stream: follows the journal and sends it to every consumer. Events are read back from the store after a
 * commit, once for all consumers, so that what is sent is what was written.
 */
import type { HardwareEventType } from '../../src/contract/event-types.ts';
import { closeCodes } from '../../src/contract/values.ts';
import { every, visitCooperatively } from '../base/concurrency.ts';
import { tokenHolder, userHolder } from '../requests/callers.ts';
import { type CommitNotice, maxBehindMs, type Store } from '../store/store.ts';
import { Consumer, type Listener } from './consumer.ts';
import { bitOf, journalTypes, type TypeSet, textFrame } from './frames.ts';
import { History, type HistoryOptions } from './history.ts';
import type { OutboxOptions } from './outbox.ts';
import { Tail } from './tail.ts';

/** Dependencies of the hub. The clocks and the timer have defaults; tests replace them. */
interface Options {
  readonly store: Pick<Store, 'events' | 'lastEventId' | 'onCommit' | 'behind'>;
  readonly log: { warn(details: object, message: string): void };
  /** Wall clock in milliseconds, for the expiry of tokens. */
  readonly now?: () => number;
  /** Monotonic clock in milliseconds. */
  readonly monotonic?: () => number;
  /** Calls periodically until the returned function is called. */
  readonly every?: (milliseconds: number, call: () => void) => () => void;
  /** Waits between two reads of older entries. */
  readonly pause?: HistoryOptions['pause'];
}

/** Request of a connection. */
interface Subscription extends Listener {
  readonly wanted: TypeSet;
  /** Number of the device whose events are wanted; null or absent for those of all. */
  readonly device?: number | null;
  /** Id of the last event that the consumer has; null if it wants only what happens from now on. */
  readonly since: number | null;
}

/** How the owner of a connection reports its progress. */
interface SubscriptionHandle {
  /** The connection takes more. */
  drained(): void;
  ponged(): void;
  /** The connection is closed. Idempotent. */
  gone(): void;
}

/** Milliseconds between two checks of all consumers. */
const SWEEP_MS = 1000;
/** Milliseconds between two warnings of one kind: an unreachable store fails for every stream. */
const WARN_MS = 1000;
/** Milliseconds for consumers to complete the closing handshake at shutdown. */
const CLOSE_MS = 2000;

/** All open streams. */
export class Hub {
  readonly #log: Options['log'];
  readonly #store: Pick<Store, 'behind'>;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #tail: Tail;
  readonly #history: History;
  readonly #consumers = new Set<Consumer>();
  /** Consumers whose tokens are being checked. */
  readonly #checking = new Set<Consumer>();
  readonly #stops: (() => void)[];
  /** By message: when it may be logged again, on the monotonic clock, and how often it was withheld. */
  readonly #warned = new Map<string, { readonly until: number; withheld: number }>();
  #sending = false;
  #sendAgain = false;
  #sweeping = false;
  #closing: Promise<void> | null = null;
  readonly #allGone = Promise.withResolvers<void>();

  constructor(options: Options) {
    const { store, log, now = Date.now, monotonic = () => performance.now(), pause } = options;
    this.#log = log;
    this.#store = store;
    this.#now = now;
    this.#monotonic = monotonic;
    const onError = (error: unknown) => this.#warn(error, 'could not read the journal for a stream');
    this.#tail = new Tail({ store, onGrowth: () => void this.#sendToAll(), onError });
    this.#history = new History({ store, head: () => this.#tail.head, onError, pause });
    this.#stops = [
      store.onCommit(notice => this.#committed(notice)),
      (options.every ?? every)(SWEEP_MS, () => void this.#sweep()),
    ];
  }

  /** Id of the last known event: a stream that starts now without `since` receives what comes after it. */
  get head(): number {
    return this.#tail.head;
  }

  /** Number of open streams, including those that are closing. */
  get size(): number {
    return this.#consumers.size;
  }

  /** Resolves when the end of the journal is known. Rejects if the store cannot be read. */
  ready(): Promise<void> {
    return this.#tail.ready();
  }

  /** Whether an id is in the journal. Rejects if the store cannot be read. */
  reaches(since: number): Promise<boolean> {
    return this.#tail.reaches(since);
  }

  /** Starts a stream; call `ready` before. Nothing that is committed after this call is missed. */
  subscribe({ wanted, device, since, ...listener }: Subscription): SubscriptionHandle {
    const { recent, recentForAdmins, head } = this.#tail;
    const outbox: OutboxOptions = {
      sink: listener.sink,
      recent,
      recentForAdmins,
      withActor: () => listener.isAdmin?.() === true,
      wanted,
      device,
      cursor: since ?? head,
      requestHistory: outbox => this.#history.request(outbox, listener.holder),
      onCaughtUp: outbox => this.#history.release(outbox, listener.holder),
    };
    const consumer = new Consumer(listener, outbox, this.#monotonic());
    this.#consumers.add(consumer);
    if (wanted & journalTypes) this.#tail.addReader();
    if (this.#closing) this.#endLate(consumer);
    // A commit between the token check and this call may have revoked the token.
    else void this.#checkToken(consumer);
    consumer.pump();
    return {
      drained: () => consumer.pump(),
      ponged: () => consumer.heartbeat.ponged(),
      gone: () => this.#gone(consumer),
    };
  }

  /** Sends an event of a key. Such events are not in the journal: a client that is not connected misses them. */
  publish(type: HardwareEventType, at: number, data: object): void {
    const bytes = textFrame(JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }));
    const frame = { type: bitOf(type), bytes, after: this.#tail.head };
    for (const consumer of this.#consumers) {
      if (consumer.ended || consumer.outbox.addKey(frame)) continue;
      consumer.end(closeCodes.tooSlow, 'too many events are waiting; reconnect with since');
    }
    void this.#sendToAll();
  }

  /** Ends all streams with 1001 and resolves when they are closed. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await visitCooperatively(this.#consumers, consumer =>
      consumer.end(closeCodes.shuttingDown, 'the daemon is stopping'),
    );
    if (this.#consumers.size === 0) return;
    const timer = setTimeout(
      () => void visitCooperatively(this.#consumers, consumer => consumer.terminate()),
      CLOSE_MS,
    );
    await this.#allGone.promise;
    clearTimeout(timer);
  }

  /** Ends a stream that was admitted before the stop began: a client that does not answer must not hold the stop. */
  #endLate(consumer: Consumer): void {
    consumer.end(closeCodes.shuttingDown, 'the daemon is stopping');
    setTimeout(() => consumer.terminate(), CLOSE_MS).unref();
  }

  #gone(consumer: Consumer): void {
    consumer.ended = true;
    if (!this.#consumers.delete(consumer)) return;
    this.#history.release(consumer.outbox, consumer.listener.holder);
    if (consumer.outbox.wanted & journalTypes) this.#tail.removeReader();
    if (this.#closing && this.#consumers.size === 0) this.#allGone.resolve();
  }

  /** Checks the tokens of all streams again, after the signing keys have changed; ends those that are no longer valid. */
  checkTokens(): void {
    for (const consumer of this.#consumers) consumer.needsCheck = true;
    void this.#checkDue();
  }

  #committed({ lastEventId, users, serviceTokens, everything = false }: CommitNotice): void {
    this.#tail.committed(lastEventId);
    if (users.length === 0 && serviceTokens.length === 0 && !everything) return;
    const changed = new Set([...users.map(userHolder), ...serviceTokens.map(tokenHolder)]);
    for (const consumer of this.#consumers)
      if (everything || changed.has(consumer.listener.holder) || (users.length > 0 && consumer.listener.hasOwner))
        consumer.needsCheck = true;
    // Later, because other listeners of this commit (the caches of users and tokens) must see it first.
    setImmediate(() => void this.#checkDue());
  }

  #checkDue(): Promise<void> {
    return visitCooperatively(this.#consumers, consumer => {
      if (consumer.needsCheck) void this.#checkToken(consumer);
    });
  }

  /** Sends every consumer what is available, and starts over if more became available during that. */
  async #sendToAll(): Promise<void> {
    this.#sendAgain = true;
    if (this.#sending) return;
    this.#sending = true;
    while (this.#sendAgain) {
      this.#sendAgain = false;
      await visitCooperatively(this.#consumers, consumer => consumer.pump());
    }
    this.#sending = false;
  }

  /** Ends streams that are expired, stuck or silent; retries what failed. */
  async #sweep(): Promise<void> {
    if (this.#sweeping || this.#closing) return;
    this.#sweeping = true;
    void this.#tail.follow();
    await visitCooperatively(this.#consumers, consumer => this.#examine(consumer));
    this.#sweeping = false;
  }

  #examine(consumer: Consumer): void {
    if (consumer.ended) return;
    if (consumer.listener.expiresAt * 1000 <= this.#now()) {
      consumer.end(closeCodes.loggedOut, 'the token has expired; log in again');
      return;
    }
    // Without notifications of the commits of other daemons, only a read shows whether a token was revoked there.
    if (consumer.needsCheck || consumer.listener.endsElsewhere || this.#store.behind() >= maxBehindMs)
      void this.#checkToken(consumer);
    const health = consumer.heartbeat.check(this.#monotonic());
    if (health === 'slow') consumer.end(closeCodes.tooSlow, 'too slow; reconnect with since');
    else if (health === 'silent') consumer.terminate();
    else consumer.pump();
  }

  async #checkToken(consumer: Consumer): Promise<void> {
    consumer.needsCheck = true;
    // The check that is running may have read before what this one is to find: it repeats itself.
    if (this.#checking.has(consumer)) return;
    this.#checking.add(consumer);
    try {
      while (consumer.needsCheck && !consumer.ended) {
        consumer.needsCheck = false;
        if (!(await consumer.listener.isTokenValid())) consumer.end(closeCodes.loggedOut, 'logged out; log in again');
      }
    } catch (error) {
      consumer.needsCheck = true;
      this.#warn(error, 'could not check the token of a stream');
    } finally {
      this.#checking.delete(consumer);
    }
  }

  #warn(error: unknown, message: string): void {
    const last = this.#warned.get(message);
    const now = this.#monotonic();
    if (last && now < last.until) {
      last.withheld++;
      return;
    }
    this.#warned.set(message, { until: now + WARN_MS, withheld: 0 });
    this.#log.warn({ err: error, ...(last?.withheld && { withheld: last.withheld }) }, `${message}; trying again`);
  }
}
