/**
 * Everything by which work in the daemon waits for other work or for its time: a mutex for each key, a limit on what runs at once, batches of
 * what arrives together, and long work in time slices.
 */

/** `limitConcurrency(n)` returns a function that runs at most n of the tasks it is given at once, in the order they came. */
export { default as limitConcurrency, type LimitFunction } from 'p-limit';

/** Calls periodically until the returned function is called. Does not keep the process alive. */
export function every(milliseconds: number, call: () => void): () => void {
  const timer = setInterval(call, milliseconds).unref();
  return () => clearInterval(timer);
}

/** Runs tasks with the same key one after the other; tasks with different keys run side by side. */
export class KeyedMutex<K> {
  readonly #last = new Map<K, Promise<void>>();

  /** Starts `task` when every earlier task with this key has settled. Settles as `task` does. */
  run<T>(key: K, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    return this.#hold([key], before ? before.then(task) : task());
  }

  /** Like `run`, for several keys at once: they are queued for in one step, so two such tasks cannot wait for each other. */
  runAll<T>(keys: readonly K[], task: () => Promise<T>): Promise<T> {
    const before = keys.flatMap(key => this.#last.get(key) ?? []);
    return this.#hold(keys, before.length ? Promise.all(before).then(task) : task());
  }

  /** Later tasks with these keys wait until `result` has settled. */
  #hold<T>(keys: readonly K[], result: Promise<T>): Promise<T> {
    const release = () => {
      for (const key of keys) if (this.#last.get(key) === settled) this.#last.delete(key);
    };
    const settled: Promise<void> = result.then(release, release);
    for (const key of keys) this.#last.set(key, settled);
    return result;
  }
}

/** What to do with the items of a `TurnBatch`. */
interface TurnBatchOptions<T> {
  /** Handles one batch. Must not throw or reject: the promises of the items are its own business. */
  readonly handle: (batch: T[]) => void | Promise<void>;
  /** How many of the waiting items the next batch takes, at least 1; all of them if absent. */
  readonly take?: (waiting: readonly T[]) => number;
}

/**
 * Collects what is added during one turn of the event loop and handles it together at the end of that turn. While an
 * asynchronous `handle` is working, what is added waits for the next batch.
 */
export class TurnBatch<T> {
  readonly #options: TurnBatchOptions<T>;
  #waiting: T[] = [];
  #busy = false;
  #idle: (() => void)[] = [];
  readonly #run = () => this.#handleNext();
  readonly #next = () => this.#continue();

  constructor(options: TurnBatchOptions<T>) {
    this.#options = options;
  }

  /** Whether a batch is waiting or being handled. */
  get busy(): boolean {
    return this.#busy;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(this.#run);
  }

  /** Takes what waits for the next batch, or as much of it as `take` returns: the batch that is being handled has room for it. */
  takeWaiting(): T[] {
    const waiting = this.#waiting;
    if (waiting.length === 0) return [];
    const size = this.#options.take?.(waiting) ?? waiting.length;
    this.#waiting = waiting.slice(size);
    return waiting.slice(0, size);
  }

  /** Resolves when everything has been handled, including what is added during the wait. */
  async idle(): Promise<void> {
    if (this.#busy) await new Promise<void>(resolve => this.#idle.push(resolve));
  }

  #handleNext(): void {
    const working = this.#options.handle(this.takeWaiting());
    if (working) void working.then(this.#next);
    else this.#continue();
  }

  #continue(): void {
    if (this.#waiting.length > 0) {
      setImmediate(this.#run);
      return;
    }
    this.#busy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** Milliseconds of work on the event loop after which other work gets its turn. */
const SLICE_MS = 4;

/** Measures how long work has held the event loop, and lets other work run in between. */
export class TimeSlice {
  readonly #milliseconds: number;
  #since = performance.now();

  constructor(milliseconds = SLICE_MS) {
    this.#milliseconds = milliseconds;
  }

  get over(): boolean {
    return performance.now() - this.#since >= this.#milliseconds;
  }

  /**
   * Resolves when whatever was waiting has run, and starts the next slice. Two turns of the event loop: requests arrive in the
   * first, and a `TurnBatch` that they fill is handled before the end of the second.
   */
  async pass(): Promise<void> {
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    this.#since = performance.now();
  }
}

/** Runs a generator to its end in time slices. `stride`: steps between two looks at the clock. Resolves with what it returns. */
export async function cooperatively<T>(
  work: Generator<void, T>,
  { slice = new TimeSlice(), stride = 1 }: { readonly slice?: TimeSlice; readonly stride?: number } = {},
): Promise<T> {
  for (let step = 1; ; step++) {
    const { done, value } = work.next();
    if (done) return value;
    if (step % stride === 0 && slice.over) await slice.pass();
  }
}

/** Calls `visit` for each item in time slices. The first slice runs before this returns. */
export function visitCooperatively<T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> {
  return cooperatively(visits(items, visit), { stride: 16 });
}

function* visits<T>(items: Iterable<T>, visit: (item: T) => void): Generator<void, void> {
  for (const item of items) {
    visit(item);
    yield;
  }
}
