/** Counts what is held by whom, and says when it is enough. */
export class Places {
  readonly #each: number;
  readonly #all: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** At most `each` for one holder, `all` together. */
  constructor(each: number, all: number) {
    this.#each = each;
    this.#all = all;
  }

  /** Takes a place; null where none is left. Call what it returns once, when the place is free again. */
  take(holder: string): (() => void) | null {
    const held = this.#held.get(holder) ?? 0;
    if (held >= this.#each || this.#total >= this.#all) return null;
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
