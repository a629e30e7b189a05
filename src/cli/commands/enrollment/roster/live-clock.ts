/** Milliseconds between two looks at the clock. */
const tickMs = 10;
/** The most that counts between two looks: what is longer is a time in which the program could not see what was typed. */
const mostMs = 2 * tickMs;

/**
 * A steady clock that stands still while the program does: characters that came in the meantime are read together with what comes after
 * them, so a time in which nothing could be read is not a pause of the person or the scanner.
 */
export class LiveClock {
  #ms = 0;
  #seenAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Milliseconds. Between `start` and `stop`, only time in which the program ran. */
  now(): number {
    const now = performance.now();
    const passed = now - this.#seenAt;
    this.#seenAt = now;
    this.#ms += this.#timer === undefined ? passed : Math.min(passed, mostMs);
    return this.#ms;
  }

  /** Calls `tick` until `stop`. Between two calls the program has read what was there to read. */
  start(tick: () => void): void {
    this.#timer ??= setInterval(tick, tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
