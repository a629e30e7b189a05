import type { DeviceQuery, DeviceRow, Rows } from '../../store.ts';
import { sqlPage } from '../lists-sql.ts';
import { deviceRows } from '../read.ts';
import type { Statements } from '../statements.ts';
import { inTurns, Turns } from '../turns.ts';
import type { DeviceDelta } from '../writing.ts';
import { DeviceLists } from './device-lists.ts';

/** Milliseconds without a commit after which what was added is prepared for searches. */
const idle = 100;

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

/**
 * Lists of devices: by plain SQL as long as the memory is being filled, in turns with everything else; out of memory from then on.
 * `budget`: see `Turns`.
 */
export function listedDevices(statements: Statements, budget?: number): ListedDevices {
  const plain = plainLists(statements);
  const lists = new DeviceLists(statements);
  let loaded = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** One long work after the other: each takes memory, and two would only take turns. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const untilClosed = function* (work: Generator<void, void>): Generator<void, void> {
    while (!closed && !work.next().done) yield;
  };
  const inPieces = <T>(work: Generator<void, T>) => inTurns(work, new Turns(budget));
  const warm = () => alone(() => inPieces(untilClosed(lists.warm())));
  const ready = alone(async () => {
    await inPieces(untilClosed(lists.load()));
    loaded = !closed;
    await inPieces(untilClosed(lists.warm()));
  });
  // A failure to read shows where somebody reads; lists then stay with SQL.
  ready.catch(() => {});

  const page = async (query: DeviceQuery): Promise<Rows<DeviceRow>> => {
    const quick = lists.quickPage(query);
    if (quick) return deviceRows(statements, quick);
    return alone(async () => {
      for (let attempt = 1; ; attempt++) {
        const rows = deviceRows(statements, await (attempt > 2 ? atOnce : inPieces)(lists.page(query)));
        // Rows are read after the page was made up: a commit in between must not show what was not asked for.
        if (attempt > 2 || rows.rows.every(row => asAsked(row, query))) return rows;
      }
    });
  };
  return {
    list: query => (loaded ? page(query) : plain.list(query)),
    apply(deltas) {
      lists.apply(deltas);
      if (!loaded || lists.unprepared === 0 || closed) return;
      clearTimeout(timer);
      timer = setTimeout(() => void warm().catch(() => {}), idle);
      timer.unref();
    },
    ready,
    async close() {
      closed = true;
      clearTimeout(timer);
      await last;
    },
  };
}

async function atOnce<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const asAsked = (row: DeviceRow, query: DeviceQuery): boolean =>
  (query.status ?? row.status) === row.status && (query.userId ?? row.userId) === row.userId;
