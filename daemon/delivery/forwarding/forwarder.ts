/**
 * Forwards the journal to another machine: in order, each entry at least once. Reads pages of the journal after the stored
 * cursor, so that memory is bounded, and takes no part in a commit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRecord } from '../../domain/journal.ts';
import type { Home } from '../../home/home.ts';
import type { Logger } from '../../logger.ts';
import { isLoopbackName } from '../../loopback.ts';
import type { Store } from '../../store/store.ts';
import { type AuditLine, toAuditLine } from './audit-line.ts';
import { Cursor } from './cursor.ts';
import { type Send, senderTo } from './senders.ts';
import type { ForwardTarget } from './target.ts';

/** Entries in one delivery. */
const PAGE = 500;
/** Devices read in one turn of the event loop: requests are served in between. */
const TURN = 50;
/** Milliseconds until the next attempt: doubled after each failure. A receiver does not report that it works again. */
const backoff = { first: 500, longest: 60_000 };
/** Milliseconds for one delivery. A receiver that never confirms, but keeps sending something, is not silent. */
const DELIVERY_MS = 120_000;
/**
 * Milliseconds until a daemon tries again to take the work from another one. The database sends no event when it is free, and a statement
 * that waits for it would occupy a connection of each daemon.
 */
const TURN_MS = 2000;

/** What a forwarder works with. */
interface ForwarderOptions {
  readonly store: Pick<Store, 'events' | 'device' | 'lastEventId' | 'onCommit' | 'sharedWork'>;
  readonly home: Home;
  readonly target: ForwardTarget;
  readonly log: Logger;
  /** Milliseconds after which a delivery has failed. */
  readonly deliveryMs?: number;
}

/** Delivers entries in the background until it is stopped. Of several daemons with one target, one delivers at a time. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #send: Send;
  readonly #cursor: Cursor;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #unsubscribe: () => void = () => {};
  /** Id of the last delivered entry; -1 until it is known. */
  #delivered = -1;
  #failures = 0;
  #wake: () => void = () => {};

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#send = senderTo(options.target);
    this.#cursor = new Cursor(options.home, options.target.url, options.store.sharedWork);
  }

  start(): void {
    const { target, log } = this.#options;
    if (target.kind === 'tcp' && !isLoopbackName(target.host))
      log.warn({ target: target.name }, 'the journal is forwarded over an unencrypted connection; use syslog+tls');
    this.#unsubscribe = this.#options.store.onCommit(() => this.#wake());
    this.#running = this.#options.store.sharedWork ? this.#takeTurns() : this.#run(this.#stop.signal);
  }

  /** Ends a delivery in progress: the next start repeats it. Idempotent. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    this.#wake();
    await this.#running;
  }

  /** Number of entries that were not delivered yet. */
  async lag(): Promise<number> {
    const { store } = this.#options;
    const delivered = this.#delivered >= 0 || !store.sharedWork ? this.#delivered : (await this.#cursor.read(store)).id;
    return Math.max(0, (await store.lastEventId()) - Math.max(0, delivered));
  }

  /** Forwards while this daemon has the work, and waits for it otherwise. */
  async #takeTurns(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const held = await this.#options.store.sharedWork!.take(this.#cursor.work).catch(() => null);
      if (held === null) {
        await sleep(TURN_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      const turn = AbortSignal.any([signal, held.lost]);
      turn.addEventListener('abort', () => this.#wake());
      await this.#run(turn);
      // Another daemon may deliver from now on, and writes its progress to the note.
      this.#delivered = -1;
      await held.release();
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Before the read: a commit during the read must not be missed.
      const committed = new Promise<void>(resolve => {
        this.#wake = resolve;
      });
      try {
        if (this.#delivered < 0) await this.#readCursor();
        if (!(await this.#deliverPage(signal)) && !signal.aborted) await committed;
      } catch (error) {
        // Read the note again: another daemon may have delivered more, or an answer was lost.
        if (this.#options.store.sharedWork) this.#delivered = -1;
        if (!signal.aborted) await this.#pauseAfter(error, signal);
      }
    }
  }

  async #readCursor(): Promise<void> {
    const { store, target, log } = this.#options;
    const { id, replaced } = await this.#cursor.read(store);
    if (replaced)
      log.warn(
        { target: target.name },
        'the journal was replaced since the last delivery; it is forwarded from its start',
      );
    this.#delivered = id;
  }

  /** False if there is nothing to deliver. */
  async #deliverPage(signal: AbortSignal): Promise<boolean> {
    const { store, log, target } = this.#options;
    const records = await store.events({ after: this.#delivered, limit: PAGE });
    const last = records.at(-1);
    if (!last || signal.aborted) return false;
    await this.#sendInTime(await this.#linesOf(records), signal);
    await this.#cursor.write(last);
    this.#delivered = last.id;
    if (this.#failures > 0) log.info({ target: target.name }, 'journal entries are forwarded again');
    this.#failures = 0;
    return true;
  }

  async #sendInTime(lines: readonly AuditLine[], signal: AbortSignal): Promise<void> {
    const { deliveryMs = DELIVERY_MS } = this.#options;
    const deadline = AbortSignal.timeout(deliveryMs);
    await this.#send(lines, AbortSignal.any([signal, deadline])).catch(error => {
      throw deadline.aborted ? new Error(`the delivery was not confirmed within ${deliveryMs / 1000} s`) : error;
    });
  }

  async #linesOf(records: readonly EventRecord[]): Promise<AuditLine[]> {
    const { store } = this.#options;
    const lines: AuditLine[] = [];
    for (let at = 0; at < records.length; at += TURN)
      lines.push(...(await Promise.all(records.slice(at, at + TURN).map(record => toAuditLine(store, record)))));
    return lines;
  }

  async #pauseAfter(error: unknown, signal: AbortSignal): Promise<void> {
    const { log, target } = this.#options;
    const pause = Math.min(backoff.longest, backoff.first * 2 ** this.#failures);
    // The first failure, and then one line a minute.
    if (this.#failures === 0 || pause === backoff.longest)
      log.warn(
        { target: target.name, reason: (error as Error).message, retryMs: pause },
        'journal entries could not be forwarded; they are kept and sent again',
      );
    this.#failures = Math.min(this.#failures + 1, 10);
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}
