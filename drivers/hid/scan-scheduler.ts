/** Milliseconds between the scans that follow a hint; together the 5 s a key may need until all its interfaces exist. */
const AFTER_HINT = [100, 200, 400, 800, 1500, 2000];
/** Longest pause in milliseconds between two scans that hints ask for. */
const MAX_PAUSE = 30;

/**
 * Decides when to scan: at once after a hint, then at growing intervals, and at a slow pace as long as no hint comes. Never
 * runs two scans at a time.
 */
export class ScanScheduler {
  readonly #scan: (hinted: boolean) => Promise<void>;
  readonly #pace: () => number;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #requested: PromiseWithResolvers<void> | null = null;
  #step = AFTER_HINT.length;
  #hinted = false;
  #pausedUntil = 0;
  #stopped = false;

  /**
   * `scan` receives whether a hint is the reason, and must not reject. `pace` returns the milliseconds between two scans
   * without a hint.
   */
  constructor(scan: (hinted: boolean) => Promise<void>, pace: () => number) {
    this.#scan = scan;
    this.#pace = pace;
  }

  /** Something may have changed: scans soon. */
  hint(): void {
    this.#step = 0;
    this.#hinted = true;
    this.#schedule();
  }

  /** Resolves after a scan that began after this call, or when there will be no more scans. */
  scanNow(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#requested ??= Promise.withResolvers<void>();
    this.#schedule();
    return this.#requested.promise;
  }

  /** Stops scanning. Resolves after the running scan. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
    this.#requested?.resolve();
  }

  #schedule(): void {
    if (this.#running === null) this.#scanAfter(Math.max(0, this.#pausedUntil - performance.now()));
  }

  #scanAfter(milliseconds: number): void {
    if (this.#stopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, milliseconds);
  }

  async #run(): Promise<void> {
    const requested = this.#requested;
    const hinted = this.#hinted || this.#step < AFTER_HINT.length;
    this.#requested = null;
    this.#hinted = false;
    const began = performance.now();
    await this.#scan(hinted);
    const ended = performance.now();
    // However many hints come, part of the time is left for the keys and for other work.
    this.#pausedUntil = ended + Math.min(MAX_PAUSE, (ended - began) / 2);
    this.#running = null;
    requested?.resolve();
    if (this.#hinted || this.#requested !== null) this.#schedule();
    else this.#scanAfter(AFTER_HINT[this.#step++] ?? this.#pace());
  }
}
