import { cooperatively, limitConcurrency, TimeSlice } from '../../../base/concurrency.ts';
import type { Rows } from '../../../store/queries.ts';
import type { Statements } from '../../../store/sqlite/statements.ts';
import { stillMatches } from '../../filters.ts';
import type { DeviceQuery, DeviceStatistics, StatisticsQuery } from '../../queries.ts';
import type { DeviceRow } from '../../records.ts';
import { countMatches, sqlPage } from '../lists-sql.ts';
import { deviceRows } from '../rows.ts';
import { sqlStatistics, talliesIn } from '../statistics.ts';
import { type DeviceDeltas, DeviceLists } from './device-lists.ts';

/** Milliseconds without a commit after which new devices are prepared for searches (0.7 µs a device): not amid series of batches. */
const idleMs = 1000;
/** So many new devices are prepared at once: the next search would otherwise have to wait for it. */
const manyDevices = 100_000;

/** Half the usual time slice, because lists may be requested at any time. */
const defaultSliceMs = 2;

/** Lists of devices, whatever they come from. */
interface ListedDevices {
  list(query: DeviceQuery): Promise<Rows<DeviceRow>>;
  statistics(query: StatisticsQuery): Promise<DeviceStatistics>;
  /** Applies what was committed. To be called right after each commit. */
  apply(deltas: DeviceDeltas): void;
  /** Resolves when lists come from memory: some seconds after the start with a million devices. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Lists of devices with plain SQL only. */
export function plainLists(statements: Statements): ListedDevices {
  return {
    list: async query => deviceRows(statements, sqlPage(statements, query)),
    statistics: async query => sqlStatistics(statements, query),
    apply: () => {},
    ready: Promise.resolve(),
    close: async () => {},
  };
}

/** How lists in memory work in the background. */
interface Options {
  /** Option of `TimeSlice`. */
  readonly sliceMs?: number | undefined;
  /** Receives lines for the log. */
  readonly notice?: ((message: string) => void) | undefined;
}

/** Lists of devices: with plain SQL while the memory is being filled in the background, from memory after that. */
export function listedDevices(statements: Statements, options: Options = {}): ListedDevices {
  return new ListsInMemory(statements, options);
}

class ListsInMemory implements ListedDevices {
  readonly ready: Promise<void>;
  readonly #statements: Statements;
  readonly #plain: ListedDevices;
  readonly #lists: DeviceLists;
  readonly #options: Options;
  #state: 'filling' | 'filled' | 'given up' | 'closed' = 'filling';
  #timer: NodeJS.Timeout | undefined;
  /** Number of applied commits. */
  #commits = 0;
  /** Each long task takes memory, and two at once would only alternate. */
  readonly #oneAtATime = limitConcurrency(1);

  constructor(statements: Statements, options: Options) {
    this.#statements = statements;
    this.#plain = plainLists(statements);
    this.#lists = new DeviceLists(statements);
    this.#options = options;
    this.ready = this.#background(this.#fill());
  }

  list(query: DeviceQuery): Promise<Rows<DeviceRow>> {
    return this.#state === 'filled' ? this.#list(query) : this.#plain.list(query);
  }

  statistics(query: StatisticsQuery): Promise<DeviceStatistics> {
    if (this.#state !== 'filled') return this.#plain.statistics(query);
    return this.#oneAtATime(async () => {
      for (let attempt = 1; ; attempt++) {
        const commits = this.#commits;
        const slice = new TimeSlice(attempt < 3 ? this.#sliceMs : Number.POSITIVE_INFINITY);
        const found = await cooperatively(this.#lists.statistics(query), { slice });
        // A commit in between would be in some of the counts and not in others.
        if (commits === this.#commits) return { ...found, tallies: talliesIn(this.#statements, query) };
      }
    });
  }

  apply(deltas: DeviceDeltas): void {
    this.#commits++;
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
        const commits = this.#commits;
        const work = this.#lists.page(query);
        // The third attempt holds the event loop, so that no commit can come in between.
        const page = await (attempt < 3
          ? this.#inSlices(work)
          : cooperatively(work, { slice: new TimeSlice(Number.POSITIVE_INFINITY) }));
        const rows = deviceRows(this.#statements, page);
        // The rows are read after the page was made: a commit in between must not show rows that do not match.
        if (
          attempt === 3 ||
          (this.#areFound(rows.rows, query, commits) && rows.rows.every(row => stillMatches(row, query)))
        )
          return rows;
      }
    });
  }

  /** Whether the rows still have the words of a search; `commits`: the number of commits when it began. */
  #areFound(rows: readonly DeviceRow[], { search }: DeviceQuery, commits: number): boolean {
    if (search === undefined || commits === this.#commits) return true;
    return countMatches(this.#statements, rows, { search }) === rows.length;
  }

  *#fill(): Generator<void, void> {
    yield* this.#lists.load();
    this.#state = 'filled';
    yield* this.#lists.warm();
  }

  #prepareSoon(): void {
    clearTimeout(this.#timer);
    const wait = this.#lists.unprepared < manyDevices ? idleMs : 0;
    this.#timer = setTimeout(() => this.#background(this.#lists.prepare()), wait);
    this.#timer.unref();
  }

  /** Work that no caller waits for; it ends when the store is closed. */
  #background(work: Generator<void, void>): Promise<void> {
    return this.#oneAtATime(() => this.#inSlices(this.#untilClosed(work))).catch(error => this.#giveUp(error));
  }

  *#untilClosed(work: Generator<void, void>): Generator<void, void> {
    while (this.#state !== 'closed' && !work.next().done) yield;
  }

  #inSlices<T>(work: Generator<void, T>): Promise<T> {
    return cooperatively(work, { slice: new TimeSlice(this.#sliceMs) });
  }

  get #sliceMs(): number {
    return this.#options.sliceMs ?? defaultSliceMs;
  }

  /** After an error the memory cannot be trusted: lists come from plain SQL until the next start. */
  #giveUp(error: unknown): void {
    if (this.#state === 'closed') return;
    this.#state = 'given up';
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.notice?.(`lists of devices come from plain SQL, more slowly, until the next start: ${reason}`);
  }
}
