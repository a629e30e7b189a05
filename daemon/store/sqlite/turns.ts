/** Lets long work on the event loop be done in pieces, so that nobody waits for the whole of it. */
export class Turns {
  readonly #budget: number;
  #since = performance.now();

  /** `budget`: milliseconds of work after which others get their turn. */
  constructor(budget = 4) {
    this.#budget = budget;
  }

  /** Whether this piece has been long enough. */
  get over(): boolean {
    return performance.now() - this.#since >= this.#budget;
  }

  /** Resolves when whatever was waiting has had its turn: requests come in after the first, and what they read at its end is read before the second. */
  async pass(): Promise<void> {
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    this.#since = performance.now();
  }
}

/** Runs a generator to its end, in pieces. `stride`: steps between two looks at the clock. */
export async function inTurns<T>(work: Generator<void, T>, turns = new Turns(), stride = 1): Promise<T> {
  for (let step = 1; ; step++) {
    const { done, value } = work.next();
    if (done) return value;
    if (step % stride === 0 && turns.over) await turns.pass();
  }
}
