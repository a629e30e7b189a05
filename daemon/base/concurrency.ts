/**
 * Everything by which work in the daemon waits for other work or for its time: a mutex for each key, a limit on what runs at once,
 * batches of what arrives together, and long work in time slices.
 */

/** `limitConcurrency(n)` returns a function that runs at most n of the tasks it is given at once, in the order they came. */
import limitConcurrency, { type LimitFunction } from 'p-limit';

export { type LimitFunction, limitConcurrency };

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

/** Treatment of the items of a `TurnBatch`. */
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

/** When work in time slices began in this turn of the event loop; null before it. */
let turnBegan: number | null = null;

const endTurn = () => {
  turnBegan = null;
};

function turnStart(): number {
  if (turnBegan === null) {
    turnBegan = performance.now();
    setImmediate(endTurn);
  }
  return turnBegan;
}

/** When connections began to arrive in one turn after the other; null if none arrived in the last two. */
let arriving: number | null = null;
let arrivals = 0;
/** Milliseconds of arrivals for which work makes way, and after which both begin again: new connections alone never stop the work. */
const WAY = { arrivals: 50, all: 75 };

/** To be called for each connection: the system reports one in a turn of the event loop, so others may wait for the next turns. */
export function connectionArrived(): void {
  arriving ??= performance.now();
  const count = ++arrivals;
  setImmediate(() =>
    setImmediate(() => {
      if (count === arrivals) arriving = null;
    }),
  );
}

/** Whether work waits for a later turn, so that connections which have arrived are accepted first. */
export const makesWay = (): boolean => arriving !== null && (performance.now() - arriving) % WAY.all < WAY.arrivals;

/** Work that waits for its next slice. Each turn of the event loop resumes one: others wait for one slice, however much work there is. */
const paused: (() => void)[] = [];

function resumeNext(): void {
  if (makesWay()) {
    setImmediate(resumeNext);
    return;
  }
  turnBegan = null;
  turnStart();
  paused.shift()!();
  if (paused.length > 0) setImmediate(resumeNext);
}

/**
 * Measures how long work has held the event loop, and lets other work run in between. All slices of one turn are one: tasks that follow
 * each other without a pause do not add up.
 */
export class TimeSlice {
  readonly #milliseconds: number;

  constructor(milliseconds = SLICE_MS) {
    this.#milliseconds = milliseconds;
    turnStart();
  }

  get over(): boolean {
    return performance.now() - turnStart() >= this.#milliseconds;
  }

  /**
   * Resolves when whatever was waiting has run, and starts the next slice. At least two turns of the event loop: requests arrive in the
   * first, and a `TurnBatch` that they fill is handled before the end of the second.
   */
  async pass(): Promise<void> {
    await new Promise(setImmediate);
    await new Promise<void>(resolve => {
      paused.push(resolve);
      if (paused.length === 1) setImmediate(resumeNext);
    });
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

/** Runs at most `most` pieces of work at once, in the order in which they came. `take` resolves to the function that ends one. */
export class Places {
  readonly #limit: LimitFunction;

  constructor(most: number) {
    this.#limit = limitConcurrency(most);
  }

  take(): Promise<() => void> {
    return new Promise(taken => void this.#limit(() => new Promise<void>(end => taken(end))));
  }
}
