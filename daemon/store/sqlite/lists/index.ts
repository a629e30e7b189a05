import { cooperatively, limitConcurrency, TimeSlice } from '../../../concurrency.ts';
import type { DeviceQuery, DeviceRow, Rows } from '../../store.ts';
import { sqlPage } from '../lists-sql.ts';
import { deviceRows } from '../read.ts';
import type { Statements } from '../statements.ts';
import type { DeviceDelta } from '../writing.ts';
import { DeviceLists } from './device-lists.ts';

/** Milliseconds without a commit after which what was added is prepared for searches: 0.7 µs a device, better not amid a run of batches. */
const idle = 1000;
/** So many are prepared without waiting for that: the next search would have to. */
const many = 100_000;

/** Milliseconds of work after which others get their turn: half of what other long work takes, since lists may be asked for at any time. */
const budget = 2;

export interface ListedDevices {
  list(query: DeviceQuery): Promise<Rows<DeviceRow>>;
  /** Takes over what was committed, at once after it was. */
  apply(deltas: readonly DeviceDelta[]): void;
  /** Resolves when lists come out of memory: some seconds after the start, at a million devices. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Lists of devices by plain SQL. */
export function plainLists(statements: Statements): ListedDevices {
  return {
    list: async query => deviceRows(statements, sqlPage(statements, query)),
    apply: () => {},
    ready: Promise.resolve(),
    close: async () => {},
  };
}

export interface ListingOptions {
  /** See `TimeSlice`. */
  readonly budget?: number | undefined;
  /** Takes a line for the log. */
  readonly notice?: ((message: string) => void) | undefined;
}

/** Lists of devices: by plain SQL as long as the memory is being filled, in turns with everything else; out of memory from then on. */
export function listedDevices(statements: Statements, options: ListingOptions = {}): ListedDevices {
  return new ListsInMemory(statements, options);
}

class ListsInMemory implements ListedDevices {
  readonly ready: Promise<void>;
  readonly #statements: Statements;
  readonly #plain: ListedDevices;
  readonly #lists: DeviceLists;
  readonly #options: ListingOptions;
  #state: 'filling' | 'filled' | 'given up' | 'closed' = 'filling';
  #timer: NodeJS.Timeout | undefined;
  /** Each long task takes memory, and two at once would only alternate. */
  readonly #oneAtATime = limitConcurrency(1);

  constructor(statements: Statements, options: ListingOptions) {
    this.#statements = statements;
    this.#plain = plainLists(statements);
    this.#lists = new DeviceLists(statements);
    this.#options = options;
    this.ready = this.#background(this.#fill());
  }

  list(query: DeviceQuery): Promise<Rows<DeviceRow>> {
    return this.#state === 'filled' ? this.#list(query) : this.#plain.list(query);
  }

  apply(deltas: readonly DeviceDelta[]): void {
    if (this.#state !== 'filling' && this.#state !== 'filled') return;
    try {
      this.#lists.apply(deltas);
    } catch (error) {
      this.#giveUp(error);
    }
    if (this.#state === 'filled' && this.#lists.unprepared > 0) this.#prepareSoon();
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    clearTimeout(this.#timer);
    await this.#oneAtATime(() => {});
  }

  async #list(query: DeviceQuery): Promise<Rows<DeviceRow>> {
    const quick = this.#lists.quickPage(query);
    if (quick) return deviceRows(this.#statements, quick);
    return this.#oneAtATime(async () => {
      for (let attempt = 1; ; attempt++) {
        const work = this.#lists.page(query);
        // The third time it does not let go of the loop, so that nothing can come in between.
        const page = await (attempt < 3
          ? this.#inPieces(work)
          : cooperatively(work, { slice: new TimeSlice(Number.POSITIVE_INFINITY) }));
        const rows = deviceRows(this.#statements, page);
        // Rows are read after the page was made up: a commit in between must not show what was not asked for.
        if (attempt === 3 || rows.rows.every(row => asAsked(row, query))) return rows;
      }
    });
  }

  *#fill(): Generator<void, void> {
    yield* this.#lists.load();
    this.#state = 'filled';
    yield* this.#lists.warm();
  }

  #prepareSoon(): void {
    clearTimeout(this.#timer);
    const wait = this.#lists.unprepared < many ? idle : 0;
    this.#timer = setTimeout(() => this.#background(this.#lists.prepare()), wait);
    this.#timer.unref();
  }

  /** Work that nobody waits for; it ends when the store is closed. */
  #background(work: Generator<void, void>): Promise<void> {
    return this.#oneAtATime(() => this.#inPieces(this.#untilClosed(work))).catch(error => this.#giveUp(error));
  }

  *#untilClosed(work: Generator<void, void>): Generator<void, void> {
    while (this.#state !== 'closed' && !work.next().done) yield;
  }

  #inPieces<T>(work: Generator<void, T>): Promise<T> {
    return cooperatively(work, { slice: new TimeSlice(this.#options.budget ?? budget) });
  }

  /** What cannot be trusted is not asked any more; what is committed stays committed. */
  #giveUp(error: unknown): void {
    if (this.#state === 'closed') return;
    this.#state = 'given up';
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.notice?.(`lists of devices go on by plain SQL, slower, until the next start: ${reason}`);
  }
}

const asAsked = (row: DeviceRow, query: DeviceQuery): boolean =>
  (query.status ?? row.status) === row.status && (query.userId ?? row.userId) === row.userId;
