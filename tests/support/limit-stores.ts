/** The two places of limits for tests: the memory of a daemon, and a database that nodes share. Each with a clock that tests move. */
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { Guessing, type GuessingOptions } from '../../daemon/accounts/guessing.ts';
import { Limiter, type Limits, type RequestLimits } from '../../daemon/requests/limiter.ts';
import { SharedLimiter } from '../../daemon/requests/shared-limiter.ts';
import { MemoryCounters } from '../../daemon/store/memory/counters.ts';
import { memoryState } from '../../daemon/store/memory/short-lived.ts';
import type { SharedCounters, ShortLived } from '../../daemon/store/short-lived.ts';
import { needsPostgres, openPostgres, PostgresServer } from './postgres.ts';

/** A clock, in milliseconds since any moment and since 1970. */
export interface TestClock {
  advance(milliseconds: number): Promise<void>;
  readonly wall: () => number;
}

/** Makes limits that all have the same counters and the same clock. */
export interface LimitStore {
  /** As two daemons have it that share it, if the store can be shared. */
  state(): Promise<{ readonly nodes: readonly [ShortLived, ShortLived]; readonly clock: TestClock }>;
  limiter(limits: Limits): Promise<{ readonly limiter: RequestLimits; readonly clock: TestClock }>;
  guessing(
    options?: Pick<GuessingOptions, 'enabled'>,
  ): Promise<{ readonly guessing: Guessing; readonly clock: TestClock }>;
}

const inMemory: LimitStore = {
  async state() {
    const { clock, monotonic } = movedBy(async () => {});
    const state = memoryState({ monotonic, wall: clock.wall });
    return { nodes: [state, state], clock };
  },
  async limiter(limits) {
    const { clock, monotonic } = movedBy(async () => {});
    return { limiter: new Limiter(limits, new MemoryCounters({ monotonic, wall: clock.wall })), clock };
  },
  async guessing(options) {
    const { clock, monotonic } = movedBy(async () => {});
    return {
      guessing: new Guessing({ enabled: true, counters: new MemoryCounters({ monotonic }), ...options }),
      clock,
    };
  },
};

/** Starts at a fixed time and stands still. */
function movedBy(advance: (milliseconds: number) => Promise<void>) {
  let now = 5000;
  const clock: TestClock = {
    async advance(milliseconds) {
      now += milliseconds;
      await advance(milliseconds);
    },
    wall: () => 1_700_000_000_000 + now,
  };
  return { clock, monotonic: () => now };
}

/** Counters of one database as several nodes have them. The time of the database stands still until a test lets it pass. */
export async function openNodes(server: PostgresServer, count: number, deadlineMs?: number) {
  const counting = { clock: '(SELECT at FROM test_clock)', deadlineMs };
  const opened = await openPostgres(server, { counting });
  onTestFinished(opened.cleanup);
  const others = await Promise.all(Array.from({ length: count - 1 }, () => opened.openAnother()));
  const stores = [opened.store, ...others];
  const nodes: SharedCounters[] = stores.map(({ shortLived }) => shortLived!.counters);
  const advance = async (milliseconds: number) => {
    await opened.query(`UPDATE test_clock SET at = at + ${milliseconds}`);
  };
  const { clock, monotonic } = movedBy(advance);
  await opened.query(`CREATE TABLE test_clock (at int8 NOT NULL); INSERT INTO test_clock VALUES (${clock.wall()})`);
  return { ...opened, stores, nodes, clock, monotonic };
}

function inDatabase(server: () => PostgresServer): LimitStore {
  const open = async () => {
    const { nodes, clock, monotonic } = await openNodes(server(), 1);
    return { counters: nodes[0]!, clock, monotonic };
  };
  return {
    async state() {
      const { stores, clock } = await openNodes(server(), 2);
      return { nodes: [stores[0]!.shortLived!, stores[1]!.shortLived!], clock };
    },
    async limiter(limits) {
      const { counters, clock, monotonic } = await open();
      const limiter = new SharedLimiter(limits, counters, monotonic);
      onTestFinished(() => limiter.stop());
      return { limiter, clock };
    },
    async guessing(options) {
      const { counters, clock } = await open();
      return { guessing: new Guessing({ enabled: true, ...options, counters }), clock };
    },
  };
}

/** Runs a suite with both. */
export function withBothStores(name: string, suite: (store: LimitStore) => void): void {
  describe(`${name} in memory`, () => suite(inMemory));
  needsPostgres(`${name} in PostgreSQL`, () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.stop());
    suite(inDatabase(() => server));
  });
}
