/**
 * Measures for how long the event loop is held, because nothing else is served during that time. A timer that is due every 20 ms
 * is late by as long as other work took. Each request adds the cost of storing two texts and a time.
 */
import { performance } from 'node:perf_hooks';

/** Milliseconds between two samples. */
const SAMPLE_MS = 20;
/** Holds longer than this many milliseconds are logged. */
const LOGGED_MS = 250;

/** Upper bounds of the histogram in seconds; the last bucket has none. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/** A cumulative histogram of delays. */
export interface LoopDelays {
  /** Upper bound in seconds, and how many samples were at most that; the last bound is infinite. */
  readonly buckets: readonly (readonly [bound: number, count: number])[];
  readonly count: number;
  /** Sum of all samples in seconds. */
  readonly sum: number;
}

/** Dependencies of the watch. The clocks have defaults; tests replace them. */
interface LoopWatchParts {
  readonly log: { warn(details: object, message: string): void };
  /** Monotonic clock in milliseconds. */
  readonly monotonic?: () => number;
  /** Processor time of this process in milliseconds. */
  readonly work?: () => number;
}

/** Logs what holds the event loop, with the request that started last before it. */
export class LoopWatch {
  readonly #log: LoopWatchParts['log'];
  readonly #monotonic: () => number;
  readonly #work: () => number;
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #sum = 0;
  #timer: NodeJS.Timeout | undefined;
  #sampledAt = Number.POSITIVE_INFINITY;
  #workThen = 0;
  /** Whether the hold since the last sample is already in the log. */
  #isLogged = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #operation = '';
  #requestId = '';

  constructor({ log, monotonic = () => performance.now(), work = processorTime }: LoopWatchParts) {
    this.#log = log;
    this.#monotonic = monotonic;
    this.#work = work;
  }

  start(): void {
    this.#begin(this.#monotonic());
    this.#timer = setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#sampledAt = Number.POSITIVE_INFINITY;
  }

  /** Call it when work for a request starts: its header was read, its handler runs. */
  enter(operation: string, requestId: string): void {
    const now = this.#monotonic();
    // The sample is overdue: the request that started last held the loop, and its name is still stored.
    if (now - this.#sampledAt > SAMPLE_MS + LOGGED_MS) this.#report(now);
    this.#startedAt = now;
    this.#operation = operation;
    this.#requestId = requestId;
  }

  /** Takes a sample; called by the timer. */
  sample(): void {
    const now = this.#monotonic();
    const late = Math.max(0, now - this.#sampledAt - SAMPLE_MS);
    const bucket = BOUNDS.findIndex(bound => late <= bound * 1000);
    this.#counts[bucket < 0 ? BOUNDS.length : bucket]!++;
    this.#sum += late;
    if (late > LOGGED_MS) this.#report(now);
    this.#begin(now);
  }

  get delays(): LoopDelays {
    let count = 0;
    const buckets = this.#counts.map((samples, i) => {
      count += samples;
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
    const isOfRequest = this.#startedAt >= this.#sampledAt;
    const details = {
      heldMs: Math.round(now - this.#sampledAt - SAMPLE_MS),
      workMs: Math.round(this.#work() - this.#workThen),
      ...(isOfRequest ? { operation: this.#operation, requestId: this.#requestId } : {}),
    };
    this.#log.warn(
      details,
      isOfRequest
        ? 'the event loop was held; this request was the last to start before that'
        : 'the event loop was held; no request started before that',
    );
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
