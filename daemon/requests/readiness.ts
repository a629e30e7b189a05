/** Whether a load balancer should send requests to this daemon, and if not, why. */
import { setTimeout as sleep } from 'node:timers/promises';
import { every } from '../base/concurrency.ts';
import { maxBehindMs, type Store } from '../store/store.ts';

/** Dependencies of readiness. */
interface ReadinessParts {
  readonly store: Pick<Store, 'health' | 'behind' | 'clockIsOff'>;
  readonly log: { info(message: string): void; warn(details: object, message: string): void };
  /** Milliseconds for which an answer of the store is used again; 0 if it costs nothing. */
  readonly freshMs: number;
  /** Milliseconds that a report waits for a new answer while the last one, that the store is ready, is recent; 50 if absent. */
  readonly patienceMs?: number;
  /** Milliseconds of a clock that is never set; `performance.now` if absent. */
  readonly monotonic?: () => number;
}

/**
 * Milliseconds between two looks at the readiness if no request asks. A daemon becomes unready if it learns nothing of other
 * daemons for too long, so the state can change without an event.
 */
const LOOK_MS = 1000;

const PATIENCE_MS = 50;
/** Milliseconds for which a ready store counts as ready while it is asked again: a busy database answers late, and is not away. */
const RECENT_MS = 2000;

type Health = Awaited<ReturnType<Store['health']>>;

interface Question {
  readonly at: number;
  readonly health: Promise<Health>;
}

/** The readiness of a daemon. The words may be shown to anyone. */
interface Report {
  readonly ready: boolean;
  /** Why the daemon is not ready; null if it is. */
  readonly reason: string | null;
  readonly store: { readonly ready: boolean; readonly detail: string };
}

/**
 * A daemon is not ready if it is stopping, if its store accepts no writes, or if it has not learned of the changes of other daemons
 * for so long that it may not use its caches. The object store does not count: all daemons share it, so they would all be unready, also
 * for requests that need no file.
 */
export class Readiness {
  readonly #parts: ReadinessParts;
  #isStopping = false;
  /** The reason that was logged last. */
  #logged: string | null = null;
  /** The question to the store that was sent last, and when it was sent. */
  #asked: Question | null = null;
  /** The last answer that the store was ready, and when it was asked for it. */
  #ready: { readonly at: number; readonly health: Health } | null = null;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** From now on the daemon is not ready, though it still serves requests. */
  stopping(): void {
    this.#isStopping = true;
  }

  /**
   * Logs a change even if no request asks: the looks for changes of other daemons show an unreachable server and a clock that is off at
   * no extra cost. Returns the function that ends the watch.
   */
  watch(): () => void {
    return every(LOOK_MS, () => {
      if (this.#logged !== null || this.#behind() !== null || this.#parts.store.clockIsOff?.()) void this.report();
    });
  }

  async report(): Promise<Report> {
    const { ready, detail, error } = await this.#health();
    // After the answer of the store: a daemon that was busy has looked for changes since then.
    const reason = this.#isStopping ? 'the daemon is stopping' : ready ? this.#behind() : detail;
    this.#log(reason, error);
    return { ready: reason === null, reason, store: { ready, detail } };
  }

  #health(): Promise<Health> {
    const now = (this.#parts.monotonic ?? (() => performance.now()))();
    let asked = this.#asked;
    if (asked === null || now - asked.at >= this.#parts.freshMs) asked = this.#ask(now);
    this.#asked = asked;
    const { health } = asked;
    const last = this.#ready;
    if (last === null || now - last.at >= RECENT_MS) return health;
    return Promise.race([health, sleep(this.#parts.patienceMs ?? PATIENCE_MS, last.health, { ref: false })]);
  }

  #ask(at: number): Question {
    const health = this.#parts.store.health().then(found => {
      this.#ready = found.ready ? { at, health: found } : null;
      return found;
    });
    return { at, health };
  }

  #behind(): string | null {
    const behind = this.#parts.store.behind();
    if (behind < maxBehindMs) return null;
    return `the daemon has not received the changes of other daemons for ${Math.floor(behind / 1000)} s`;
  }

  #log(reason: string | null, err: unknown): void {
    if ((reason === null) === (this.#logged === null)) return;
    this.#logged = reason;
    if (reason === null) this.#parts.log.info('the daemon is ready again');
    else this.#parts.log.warn({ reason, ...(err ? { err } : {}) }, 'the daemon is not ready');
  }
}
