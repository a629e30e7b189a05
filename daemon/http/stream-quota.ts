/** How many streams may be open. */
export interface StreamBounds {
  /** Streams of one holder. */
  readonly each: number;
  /** Streams of all holders together. */
  readonly all: number;
}

const defaultBounds: StreamBounds = { each: 12_000, all: 30_000 };

/**
 * Counts open streams by holder. A holder with as many streams as are still free gets no more: even if some holders take all
 * they can, others still get some.
 */
export class StreamQuota {
  readonly #bounds: StreamBounds;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(bounds: StreamBounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** Takes a stream for a holder; null if the holder gets none. Call the returned function once, when the stream is closed. */
  take(holder: string): (() => void) | null {
    const held = this.#held.get(holder) ?? 0;
    const { each, all } = this.#bounds;
    if (held >= each || held >= all - this.#total) return null;
    this.#held.set(holder, held + 1);
    this.#total++;
    let released = false;
    return () => {
      if (!released) this.#release(holder);
      released = true;
    };
  }

  #release(holder: string): void {
    const held = this.#held.get(holder)!;
    if (held > 1) this.#held.set(holder, held - 1);
    else this.#held.delete(holder);
    this.#total--;
  }
}
