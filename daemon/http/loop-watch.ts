/**
 * Watches for how long the event loop is held: no one else is served meanwhile. A timer that is due every 20 ms comes late by
 * as much as something else took. Per request it notes two texts and a time, nothing more.
 */
import { performance } from 'node:perf_hooks';

/** Milliseconds between two samples. */
const EVERY = 20;
/** Milliseconds of a hold that is logged. */
const LOGGED = 250;

/** Upper bounds of the histogram in seconds; the last bucket has none. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

export interface LoopDelays {
  /** Upper bound in seconds, and how many samples were not above it; the last bound is infinite. */
  readonly buckets: readonly (readonly [bound: number, count: number])[];
  readonly count: number;
  /** Seconds of all samples together. */
  readonly sum: number;
}

export interface LoopWatchParts {
  readonly log: { warn(details: object, message: string): void };
  /** Milliseconds on a clock that only goes forward. */
  readonly monotonic?: () => number;
  /** Milliseconds of processor time that this process has used. */
  readonly work?: () => number;
}

export class LoopWatch {
  readonly #log: LoopWatchParts['log'];
  readonly #monotonic: () => number;
  readonly #work: () => number;
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #sum = 0;
  #timer: NodeJS.Timeout | undefined;
  #sampledAt = Number.POSITIVE_INFINITY;
  #workThen = 0;
  /** The hold since the last sample is in the log already. */
  #isLogged = false;
  #beganAt = Number.NEGATIVE_INFINITY;
  #operation = '';
  #requestId = '';

  constructor({ log, monotonic = () => performance.now(), work = processorTime }: LoopWatchParts) {
    this.#log = log;
    this.#monotonic = monotonic;
    this.#work = work;
  }

  start(): void {
    this.#begin(this.#monotonic());
    this.#timer = setInterval(() => this.sample(), EVERY).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#sampledAt = Number.POSITIVE_INFINITY;
  }

  /** Call when something is begun for a request: its header is there, its handler runs. */
  enter(operation: string, requestId: string): void {
    const now = this.#monotonic();
    // The sample is overdue: what was begun before has held the loop, and is still known here.
    if (now - this.#sampledAt > EVERY + LOGGED) this.#report(now);
    this.#beganAt = now;
    this.#operation = operation;
    this.#requestId = requestId;
  }

  /** What the timer does. */
  sample(): void {
    const now = this.#monotonic();
    const late = Math.max(0, now - this.#sampledAt - EVERY);
    const bucket = BOUNDS.findIndex(bound => late <= bound * 1000);
    this.#counts[bucket < 0 ? BOUNDS.length : bucket]!++;
    this.#sum += late;
    if (late > LOGGED) this.#report(now);
    this.#begin(now);
  }

  get delays(): LoopDelays {
    let count = 0;
    const buckets = this.#counts.map((more, i) => {
      count += more;
      return [BOUNDS[i] ?? Number.POSITIVE_INFINITY, count] as const;
    });
    return { buckets, count, sum: this.#sum / 1000 };
  }

  #begin(now: number): void {
    this.#sampledAt = now;
    this.#workThen = this.#work();
    this.#isLogged = false;
  }

  #report(now: number): void {
    if (this.#isLogged) return;
    this.#isLogged = true;
    const isOfRequest = this.#beganAt >= this.#sampledAt;
    const details = {
      heldMs: Math.round(now - this.#sampledAt - EVERY),
      workMs: Math.round(this.#work() - this.#workThen),
      ...(isOfRequest ? { operation: this.#operation, requestId: this.#requestId } : {}),
    };
    this.#log.warn(
      details,
      isOfRequest
        ? 'the event loop was held; this request was the last to begin before that'
        : 'the event loop was held; no request began before that',
    );
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
