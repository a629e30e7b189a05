/**
 * Which changes have reached the synchronous standby. If the wait of a commit is cancelled, or if the server restarts during the
 * wait, the primary shows the commit before the standby has it, and a failover can lose it. Without a standby, everything visible
 * is confirmed.
 */
import { TurnBatch } from '../../base/concurrency.ts';
import { StoreUnavailable } from '../commit.ts';
import type { Reader } from '../store.ts';
import { toFailure } from './failure.ts';
import type { DatabaseSession, Result } from './session.ts';
import { checkCommitted } from './transaction.ts';

/**
 * Milliseconds to wait for the hint of the handle that has committed: twice the time between two hints. After that it was probably
 * lost.
 */
const HINT_MS = 100;
/** Milliseconds until a caller gives up: the standby may be away for hours. */
const WAIT_MS = 2000;

/** One row for all handles: while the standby is away, one of them waits for it, and the others for the row, up to `lock_timeout`. */
const touch = `INSERT INTO meta (name, value) VALUES ('confirmed', '')
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** The last entry of the journal that is known to survive the loss of the primary. */
export class ConfirmedEntry {
  readonly #open: () => Promise<DatabaseSession>;
  readonly #writes = new TurnBatch<PromiseWithResolvers<void>>({ handle: jobs => this.#settle(jobs) });
  readonly #waiting = new Set<() => void>();
  #id = 0;
  #session: DatabaseSession | null = null;
  #closed = false;

  /** `open`: returns the connection, or a new one; its commits are as durable as all others. */
  constructor(open: (last: DatabaseSession | null) => Promise<DatabaseSession>) {
    this.#open = () => open(this.#session);
  }

  /** Its id; 0 if none is known. Never falls. */
  get id(): number {
    return this.#id;
  }

  /** A COMMIT that contains this entry was answered without a warning. */
  rise(id: number): void {
    if (id <= this.#id) return;
    this.#id = id;
    for (const look of this.#waiting) look();
  }

  /** Resolves when the entry is confirmed. Writes only if no handle shows this in time. Rejects with `StoreUnavailable`. */
  async reach(id: number): Promise<void> {
    await this.#news(id);
    if (id > this.#id) await this.write();
  }

  /** Confirms everything visible by a write. Rejects with `StoreUnavailable` after `WAIT_MS`; the write continues. */
  async write(): Promise<void> {
    const job = Promise.withResolvers<void>();
    this.#writes.add(job);
    const why = 'the database does not confirm the journal: its synchronous standby may be away';
    const timer = setTimeout(() => job.reject(new StoreUnavailable(why)), WAIT_MS);
    await job.promise.finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#session?.destroy();
    await this.#writes.idle();
    this.#session?.destroy();
  }

  /** Resolves when the entry is confirmed, or after `HINT_MS`. */
  async #news(id: number): Promise<void> {
    if (id <= this.#id) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => id <= this.#id && resolve();
    const timer = setTimeout(resolve, HINT_MS);
    this.#waiting.add(look);
    await promise;
    this.#waiting.delete(look);
    clearTimeout(timer);
  }

  async #settle(jobs: readonly PromiseWithResolvers<void>[]): Promise<void> {
    try {
      await this.#write();
      for (const { resolve } of jobs) resolve();
    } catch (error) {
      const failure = toFailure(error, 'the journal is not confirmed');
      for (const { reject } of jobs) reject(failure);
    }
  }

  /** The COMMIT comes after everything that the read before it has seen, also on the standby. */
  async #write(): Promise<void> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    const session = await this.#open();
    this.#session = session;
    if (this.#closed) session.destroy();
    session.warnings = [];
    try {
      const sent = session.together(() =>
        ['BEGIN ISOLATION LEVEL READ COMMITTED', 'SELECT event FROM head', touch, 'COMMIT'].map(sql =>
          session.run(sql),
        ),
      );
      const [, head, written, committed] = await Promise.allSettled(sent);
      checkCommitted(session, committed!);
      for (const answer of [head, written]) if (answer?.status === 'rejected') throw answer.reason;
      this.rise((head as PromiseFulfilledResult<Result>).value.rows[0]!.event as number);
    } catch (error) {
      session.destroy();
      throw error;
    }
  }
}

/**
 * The reads whose results others keep permanently: a cursor in the journal, a signed head, the response to a repeated request. They show
 * nothing that a failover can undo. The bound is taken before the read, which then uses no connection to an earlier primary. All reject
 * with `StoreUnavailable` if what is visible cannot be confirmed.
 */
export function confirmedReads(
  reads: Pick<Reader, 'events' | 'lastEventId' | 'journalHead' | 'response'>,
  confirmed: ConfirmedEntry,
): typeof reads {
  const last = async () => {
    const id = await reads.lastEventId();
    await confirmed.reach(id);
    return Math.min(id, confirmed.id);
  };
  return {
    lastEventId: last,
    async events(filter) {
      const { through = Number.POSITIVE_INFINITY } = filter;
      return reads.events({ ...filter, through: through <= confirmed.id ? through : Math.min(through, await last()) });
    },
    journalHead: async id => reads.journalHead(id ?? (await last())),
    /** Not all responses belong to an entry, so that only a write confirms one. */
    async response(id, at) {
      if ((await reads.response(id, at)) === null) return null;
      await confirmed.write();
      return reads.response(id, at);
    },
  };
}
