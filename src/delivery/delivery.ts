/**
 * Delivers items to a receiver: in order, each at least once, from a stored position on. Used for webhooks, for the forwarding of the
 * journal, and by `devmgr watch`; what differs between them are the ports and the policy.
 */
import { Lanes } from './lanes.ts';
import {
  type AttemptResult,
  afterAttempt,
  type RetryPolicy,
  type RetryState,
  type RetryStep,
  untried,
} from './retry.ts';

/** Item that is delivered in one attempt. */
export interface DeliveryItem<T> {
  /** Its position, ascending from item to item; undefined if it has none. */
  readonly id: number | undefined;
  /** Items with one key are delivered in order, those of different keys side by side, as far as `concurrency` allows. */
  readonly key?: string;
  /** Null if nothing is to be sent: only the position advances. */
  readonly content: T | null;
}

/** Where a delivery continues: after `through`, the last item that is delivered, as are all before it; null if there is none. */
interface DeliveryPosition {
  readonly through: number | null;
  /** The failed attempts to deliver the next item. */
  readonly retry: RetryState;
}

/** An attempt, and what follows from it. */
export interface Settlement<T, R extends AttemptResult> {
  readonly item: DeliveryItem<T>;
  /** Null if there was nothing to send. */
  readonly attempt: { readonly result: R; readonly startedAt: number; readonly endedAt: number } | null;
  readonly before: RetryState;
  readonly step: RetryStep;
  /** The new position; undefined if it stays as it is. */
  readonly through: number | undefined;
}

/** Dependencies of a delivery. */
export interface DeliveryPorts<T, R extends AttemptResult> {
  readonly policy: RetryPolicy;
  /** Items that are delivered at a time: one by default. */
  readonly concurrency?: number;
  /** Whether the items after one that was given up are delivered. */
  readonly onGiveUp: 'end' | 'skip';
  /** Milliseconds that an attempt may take after the delivery is stopped; null for as long as it takes. */
  readonly graceMs: number | null;
  /** Reads the position; null if nothing more is to be delivered. */
  readonly position: () => Promise<DeliveryPosition | null>;
  /** The items after a position, in order, also those that arrive later. Ends when the signal is aborted. */
  readonly items: (after: number | null, signal: AbortSignal) => AsyncIterable<DeliveryItem<T>>;
  /** Sends once. A failure is in the result; an attempt that rejects is like another port that fails. */
  readonly attempt: (content: T, signal: AbortSignal) => Promise<R>;
  /** Stores and reports what follows from an attempt. */
  readonly settle: (settlement: Settlement<T, R>) => Promise<void>;
  /** Reports the first of several failures of a port, after which the position is read again; absent: `run` rejects. */
  readonly onFailure?: (error: Error, retryMs: number) => void;
  /** Milliseconds of the clock that the times in a `RetryState` have. */
  readonly now: () => number;
  /** Resolves after this time, when the signal is aborted, or earlier. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Milliseconds until the ports are used again after one has failed. */
const FAILURE_MS = 2000;
/** A pause is waited in parts of this, so that a clock that is set is noticed. */
const LONGEST_SLEEP_MS = 60_000;

/** The delivery to one receiver. Memory is bounded however many items wait. */
export class Delivery<T, R extends AttemptResult> {
  readonly #ports: DeliveryPorts<T, R>;
  #lanes = new Lanes(1);
  #through: number | null = null;
  /** A failure to store. If the position is still the one before the item, it is not sent again. */
  #unsettled: { readonly after: number | null; readonly settlement: Settlement<T, R> } | null = null;
  /** Whether a port has failed since the last item. */
  #isFailing = false;

  constructor(ports: DeliveryPorts<T, R>) {
    this.#ports = ports;
  }

  /** Whether items are being delivered. */
  get isBusy(): boolean {
    return this.#lanes.isBusy;
  }

  /** Resolves when the signal is aborted and attempts have ended, or nothing more is to be delivered. */
  async run(signal: AbortSignal): Promise<void> {
    const { onFailure, sleep } = this.#ports;
    for (let hasEnded = false; !hasEnded; hasEnded ||= signal.aborted) {
      try {
        hasEnded = await this.#deliverAll(signal);
      } catch (error) {
        if (!onFailure) throw error;
        if (signal.aborted) return;
        if (!this.#isFailing) onFailure(error as Error, FAILURE_MS);
        this.#isFailing = true;
        await sleep(FAILURE_MS, signal);
      }
    }
  }

  /** False if the position is to be read again. */
  async #deliverAll(signal: AbortSignal): Promise<boolean> {
    const position = await this.#ports.position();
    if (!position) return true;
    this.#through = position.through;
    const unsettled = this.#unsettled;
    this.#unsettled = null;
    const isSame = unsettled?.settlement.before.failures === position.retry.failures;
    // Otherwise it was stored although the store did not report it, or someone else has changed the position.
    if (isSame && unsettled.after === position.through) return !(await this.#settle(unsettled.settlement));
    const lanes = new Lanes(this.#ports.concurrency ?? 1);
    this.#lanes = lanes;
    let next = position.retry;
    for await (const item of this.#ports.items(position.through, signal)) {
      if (signal.aborted) break;
      this.#isFailing = false;
      const retry = next;
      if (item.content !== null) next = untried;
      await lanes.accept(item, complete => this.#deliver(item, retry, complete, signal));
      if (lanes.isClosed) break;
    }
    await lanes.drain();
    return true;
  }

  /** Whether the next item may begin. */
  async #deliver(
    item: DeliveryItem<T>,
    retry: RetryState,
    complete: () => number | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { policy } = this.#ports;
    for (let before = retry; ; ) {
      if (item.content === null) {
        const step: RetryStep = { next: 'advance', state: before };
        return this.#settle({ item, attempt: null, before, step, through: complete() });
      }
      if (!(await this.#isDue(before, signal))) return false;
      const attempt = await this.#attempt(item.content, signal);
      if (!attempt) return false;
      const step = afterAttempt(policy, before, attempt.result, { ...attempt, random: Math.random() });
      const settlement = { item, attempt, before, step, through: this.#mayPass(step) ? complete() : undefined };
      const mayContinue = await this.#settle(settlement);
      if (step.next !== 'retry') return mayContinue;
      before = step.state;
    }
  }

  #mayPass({ next }: RetryStep): boolean {
    return next === 'advance' || (next === 'give-up' && this.#ports.onGiveUp === 'skip');
  }

  /** Whether another item may follow. */
  async #settle(settlement: Settlement<T, R>): Promise<boolean> {
    this.#unsettled = { after: this.#through, settlement };
    await this.#ports.settle(settlement);
    this.#unsettled = null;
    this.#through = settlement.through ?? this.#through;
    return this.#mayPass(settlement.step);
  }

  /** Waits until the next attempt. False if the signal is aborted before. */
  async #isDue({ nextAt }: RetryState, signal: AbortSignal): Promise<boolean> {
    if (nextAt === null) return true;
    const { now, sleep } = this.#ports;
    for (let wait = nextAt - now(); wait > 0 && !signal.aborted; wait = nextAt - now())
      await sleep(Math.min(wait, LONGEST_SLEEP_MS), signal);
    return !signal.aborted;
  }

  /** Null if it was cut: then it is repeated by the next delivery. */
  async #attempt(content: T, signal: AbortSignal): Promise<Settlement<T, R>['attempt']> {
    const { attempt, graceMs, now } = this.#ports;
    const cut = new AbortController();
    const cutLater = () => {
      if (graceMs !== null) setTimeout(() => cut.abort(), graceMs).unref();
    };
    const startedAt = now();
    signal.addEventListener('abort', cutLater, { once: true });
    try {
      const result = await attempt(content, cut.signal);
      return cut.signal.aborted && result.result !== 'delivered' ? null : { result, startedAt, endedAt: now() };
    } finally {
      signal.removeEventListener('abort', cutLater);
    }
  }
}
