import { setTimeout as after, setImmediate as turn } from 'node:timers/promises';
import type * as PcscMini from 'pcsc-mini';
import type { Client, Reader } from 'pcsc-mini';
import type { ReaderWatch, WatchHandlers } from '../transport.ts';

/**
 * Clients that must never be garbage-collected. The binding's finalizer of a client whose service died throws and ends the
 * process, and a client with a pending call would have its memory freed under it. One client is added each time the service
 * dies, a reader is unplugged in the middle of a call, or the driver stops: some kilobytes each.
 */
const retained: Client[] = [];

/** A client that could not be started yet. It is reused, because the memory of each new one is freed late. */
let unstarted: Client | null = null;

/** Milliseconds without an event after which a client can be stopped, and the most to wait for that: see `stopWhenQuiet`. */
const QUIET = 100;
const MAX_WAIT_FOR_QUIET = 2_000;

/** A client of the PC/SC service that watches readers. */
export class WatchingClient implements ReaderWatch {
  readonly #client: Client;
  readonly #handlers: WatchHandlers;
  #open = true;
  #lastEvent = performance.now();

  /** Connects to the service and starts watching. Throws the binding's own error if the service cannot be reached. */
  constructor(pcsc: typeof PcscMini, handlers: WatchHandlers) {
    this.#handlers = handlers;
    this.#client = unstarted ?? new pcsc.Client();
    unstarted = this.#client;
    start(this.#client);
    unstarted = null;
    this.#client.on(
      'error',
      this.#whileOpen(error => handlers.onError(error)),
    );
    this.#client.on(
      'reader',
      this.#whileOpen(reader => this.#addReader(reader)),
    );
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    retained.push(this.#client);
    await this.#stopWhenQuiet();
  }

  #addReader(reader: Reader): void {
    reader.on(
      'change',
      this.#whileOpen(status => this.#handlers.onChange(reader.name(), status.raw)),
    );
    reader.on(
      'disconnect',
      this.#whileOpen(() => this.#handlers.onReaderGone(reader.name())),
    );
    this.#handlers.onReader(reader);
  }

  /** The handler while the client is open. Every event counts as activity. */
  #whileOpen<A extends unknown[]>(handler: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      this.#lastEvent = performance.now();
      if (this.#open) handler(...args);
    };
  }

  /**
   * Stops the client while its watching thread sleeps. The thread holds the lock of the service connection while it sleeps;
   * the binding wakes it and takes that lock. If it is woken just before it falls asleep after an event, it never releases
   * the lock and this process stands still. So wait until the last event is some time ago. A client that never becomes quiet
   * keeps running, without handlers.
   */
  async #stopWhenQuiet(): Promise<void> {
    const giveUp = performance.now() + MAX_WAIT_FOR_QUIET;
    do {
      await after(Math.max(1, QUIET - this.#sinceLastEvent()));
      // Events that queued up while this process was busy are delivered before the next check.
      await turn();
      if (performance.now() > giveUp) return;
    } while (this.#sinceLastEvent() < QUIET);
    try {
      this.#client.stop();
    } catch {
      // The service died first, and the thread with it.
    }
  }

  #sinceLastEvent(): number {
    return performance.now() - this.#lastEvent;
  }
}

function start(client: Client): void {
  try {
    client.start();
  } catch (error) {
    // Otherwise it considers itself started and refuses the next start.
    client.stop();
    throw error;
  }
}
