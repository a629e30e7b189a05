/** Connections for reading. Reads on one connection are answered in order, so short and long ones have connections of their own. */

import { retry, waitMs } from '../../../src/delivery/retry.ts';
import { schedules } from '../../../src/delivery/schedules.ts';
import { TimeSlice } from '../../base/concurrency.ts';
import { StoreFailure, StoreUnavailable } from '../commit.ts';
import { StoreUnreachable } from '../database.ts';
import { sqlState, toFailure } from './failure.ts';
import type { DatabaseSession, Result } from './session.ts';

/** Whether reads may use a connection. */
type Serves = (session: DatabaseSession) => boolean;
const isAlive: Serves = session => session.alive;

/** Connections for reads of one length. */
class Lane {
  readonly #open: () => Promise<DatabaseSession>;
  readonly #serves: Serves;
  readonly #sessions: (DatabaseSession | null)[];
  readonly #opening = new Map<number, Promise<DatabaseSession>>();

  constructor(size: number, open: () => Promise<DatabaseSession>, serves: Serves) {
    this.#open = open;
    this.#serves = serves;
    this.#sessions = new Array(size).fill(null);
  }

  /** The connection with the fewest reads; opened if it does not work. */
  async session(): Promise<DatabaseSession> {
    const load = (session: DatabaseSession | null) => (session?.alive ? session.pending : 0);
    let best = 0;
    for (let i = 1; i < this.#sessions.length; i++)
      if (load(this.#sessions[i]!) < load(this.#sessions[best]!)) best = i;
    const session = this.#sessions[best]!;
    if (session && this.#serves(session)) return session;
    // Earlier reads on the connection are still answered.
    void session?.close();
    return this.#reopen(best);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    await Promise.all(this.#sessions.map(session => session?.close()));
  }

  #reopen(index: number): Promise<DatabaseSession> {
    const running = this.#opening.get(index);
    if (running) return running;
    const opening = this.#open()
      .then(session => {
        this.#sessions[index] = session;
        return session;
      })
      .finally(() => this.#opening.delete(index));
    this.#opening.set(index, opening);
    return opening;
  }
}

/** Passes a result on when this turn of the event loop has time for it: many results may arrive in one. */
async function inTurn(result: Result): Promise<Result> {
  const slice = new TimeSlice();
  if (slice.over) await slice.pass();
  return result;
}

/** `short`: one look at an index. `long`: lists, statistics and the journal. */
export type ReadLength = 'short' | 'long';

export class Readers {
  readonly #lanes: Readonly<Record<ReadLength, Lane>>;
  #closed = false;

  constructor(open: (length: ReadLength) => Promise<DatabaseSession>, serves: Serves = isAlive) {
    const lane = (length: ReadLength, size: number) => new Lane(size, () => open(length), serves);
    this.#lanes = { short: lane('short', 2), long: lane('long', 3) };
  }

  /** Runs a read that is prepared once; repeats it if the connection fails. Rejects with `StoreFailure`. */
  run(sql: string, values: readonly unknown[] = [], length: ReadLength = 'short'): Promise<Result> {
    return this.#read(length, session => session.run(sql, values));
  }

  /** Runs a read that is planned for its values. */
  runOnce(sql: string, values: readonly unknown[]): Promise<Result> {
    return this.#read('long', session => session.runOnce(sql, values));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#lanes.short.close(), this.#lanes.long.close()]);
  }

  #read(length: ReadLength, read: (session: DatabaseSession) => Promise<Result>): Promise<Result> {
    return retry(
      async () => {
        if (this.#closed) throw new StoreUnavailable('the store is closed');
        return inTurn(await read(await this.#lanes[length].session()));
      },
      async (error, failures) => {
        // A new connection may have been on its way to a server that was just starting.
        const isUnanswered = !(error instanceof StoreFailure) && /^(57|08)?$/.test(sqlState(error).slice(0, 2));
        const mayRepeat = isUnanswered || error instanceof StoreUnreachable;
        if (!mayRepeat || waitMs(schedules.connection, failures) === null) throw toFailure(error, 'cannot read');
      },
    );
  }
}
