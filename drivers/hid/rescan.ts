/** When to look again: after a hint at once and then ever more seldom, between hints at a slow pace; never two at a time. */

/** Waits between the scans that follow a hint, in milliseconds; together the 5 s a key may take to appear whole. */
const AFTER_HINT = [100, 200, 400, 800, 1500, 2000];
/** Most time without a scan between two scans that hints ask for. */
const MOST_REST = 30;

export class Rescan {
  readonly #scan: (hinted: boolean) => Promise<void>;
  readonly #pace: () => number;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #wanted: PromiseWithResolvers<void> | null = null;
  #step = AFTER_HINT.length;
  #hinted = false;
  #restUntil = 0;
  #stopped = false;

  /**
   * `scan` is told whether a hint is the reason and must not reject. `pace` gives the wait between scans without a
   * hint, in milliseconds.
   */
  constructor(scan: (hinted: boolean) => Promise<void>, pace: () => number) {
    this.#scan = scan;
    this.#pace = pace;
  }

  /** Something may have changed. */
  hint(): void {
    this.#step = 0;
    this.#hinted = true;
    this.#soon();
  }

  /** Resolves when a scan that began after this call has ended, or when no scan will come any more. */
  now(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#wanted ??= Promise.withResolvers<void>();
    this.#soon();
    return this.#wanted.promise;
  }

  /** Ends the scanning; resolves when the scan that runs is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
    this.#wanted?.resolve();
  }

  #soon(): void {
    if (this.#running === null) this.#after(Math.max(0, this.#restUntil - performance.now()));
  }

  #after(milliseconds: number): void {
    if (this.#stopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#run();
    }, milliseconds);
  }

  async #run(): Promise<void> {
    const wanted = this.#wanted;
    const hinted = this.#hinted || this.#step < AFTER_HINT.length;
    this.#wanted = null;
    this.#hinted = false;
    const began = performance.now();
    await this.#scan(hinted);
    const ended = performance.now();
    // However many hints come, some of the time is left to the others, and to the keys.
    this.#restUntil = ended + Math.min(MOST_REST, (ended - began) / 2);
    this.#running = null;
    wanted?.resolve();
    if (this.#hinted || this.#wanted !== null) this.#soon();
    else this.#after(AFTER_HINT[this.#step++] ?? this.#pace());
  }
}
