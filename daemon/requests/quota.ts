/** How much may be open at the same time. */
export interface QuotaBounds {
  /** Of one holder. */
  readonly each: number;
  /** Of all holders together. */
  readonly all: number;
}

/**
 * Counts what is open by holder: streams, exports, uploads. A holder with as many as are still free gets no more: even if some
 * holders take all they can, others still get some.
 */
export class Quota {
  readonly #bounds: QuotaBounds;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(bounds: QuotaBounds) {
    this.#bounds = bounds;
  }

  /** Takes one for a holder; null if the holder gets none. Call the returned function when it is closed. */
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
