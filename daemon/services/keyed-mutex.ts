/** Runs what concerns the same thing one after the other, and what concerns different things side by side. */
export class OneByOne<K> {
  readonly #last = new Map<K, Promise<void>>();

  /** Begins `work` when everything asked for earlier under this key is over, however it ended. */
  run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const done = before ? before.then(work) : work();
    const over: Promise<void> = done.then(
      () => this.#over(key, over),
      () => this.#over(key, over),
    );
    this.#last.set(key, over);
    return done;
  }

  #over(key: K, ended: Promise<void>): void {
    if (this.#last.get(key) === ended) this.#last.delete(key);
  }
}
