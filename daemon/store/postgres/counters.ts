/** The counters that nodes share: one table that is not logged, and one statement for each count. */

import { StoreUnavailable } from '../commit.ts';
import type { Backoff, SharedCounters, WindowRequest, WindowState } from '../short-lived.ts';
import { toFailure } from './failure.ts';
import type { DatabaseSession, Result } from './session.ts';

/** The time of the server, in milliseconds since 1970. */
export const serverTime = '(extract(epoch FROM now()) * 1000)::int8';

/** $3 want, $4 need, $5 most, $6 share, $7 milliseconds. In an update `excluded.ends_at - $7` is the time. */
const fresh = 'w.ends_at <= excluded.ends_at - $7::int8';
const available = '($5::int8 - w.used)';
const grant = (from: string) =>
  `CASE WHEN ${from} >= $4::int8 THEN least($3::int8, (${from} + $6::int8 - 1) / $6::int8) ELSE 0 END`;
const takeAt = (now: string) => `INSERT INTO counter AS w (scope, key, used, granted, ends_at)
  VALUES ($1, $2, ${grant('$5::int8')}, ${grant('$5::int8')}, ${now} + $7::int8)
  ON CONFLICT (scope, key) DO UPDATE SET
    granted = CASE WHEN ${fresh} THEN excluded.granted ELSE ${grant(available)} END,
    used = CASE WHEN ${fresh} THEN excluded.used ELSE w.used + ${grant(available)} END,
    ends_at = CASE WHEN ${fresh} THEN excluded.ends_at ELSE w.ends_at END
  RETURNING granted, used, ends_at - ${now} AS left, ends_at AS "endsAt"`;

const giveBackAt = (now: string) => `UPDATE counter SET used = greatest(used - $3::int8, 0)
  WHERE scope = $1 AND key = $2 AND ends_at > ${now} AND ($4::int8 IS NULL OR ends_at = $4::int8)`;

const blockedForAt = (
  now: string,
) => `SELECT greatest(CASE WHEN used >= $3::int8 THEN ends_at ELSE 0 END, blocked_until) - ${now} AS left
  FROM counter WHERE scope = $1 AND key = $2`;

/** $3 forget, $4 free, $5 first, $6 longest. */
const forgotten = 'w.ends_at <= excluded.ends_at - $3::int8';
const blocked = 'w.blocked_until > excluded.ends_at - $3::int8';
const wrongAt = (now: string) => `INSERT INTO counter AS w (scope, key, used, granted, ends_at)
  VALUES ($1, $2, 1, 1, ${now} + $3::int8)
  ON CONFLICT (scope, key) DO UPDATE SET
    granted = CASE WHEN ${blocked} THEN 0 ELSE 1 END,
    used = CASE WHEN ${blocked} THEN w.used WHEN ${forgotten} THEN 1 ELSE w.used + 1 END,
    blocked_until = CASE WHEN ${blocked} THEN w.blocked_until WHEN ${forgotten} OR w.used + 1 < $4::int8 THEN 0
      ELSE excluded.ends_at - $3::int8 + least($5::int8 * 2 ^ least(w.used + 1 - $4::int8, 30), $6::int8)::int8 END,
    ends_at = CASE WHEN ${blocked} THEN w.ends_at ELSE excluded.ends_at END
  RETURNING CASE granted WHEN 0 THEN blocked_until - ${now} ELSE 0 END AS left`;

const rightAt = (
  now: string,
) => `WITH ended AS (DELETE FROM counter WHERE scope = $1 AND key = $2 AND blocked_until <= ${now})
  SELECT blocked_until - ${now} AS left FROM counter WHERE scope = $1 AND key = $2 AND blocked_until > ${now}`;

/** A row that another node is using or removing is skipped. */
const removeEndedAt = (now: string) => `DELETE FROM counter WHERE (scope, key) IN (
    SELECT scope, key FROM counter WHERE ends_at <= ${now} ORDER BY ends_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
const removeExcess = `DELETE FROM counter WHERE (scope, key) IN (
    SELECT scope, key FROM counter WHERE scope = $1 ORDER BY ends_at
    LIMIT least($3, greatest((SELECT count(*) FROM counter WHERE scope = $1) - $2::int8, 0)) FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

const storedBytes = `SELECT ((SELECT coalesce(sum(file_size), 0) FROM app) + (SELECT coalesce(sum(file_size), 0) FROM backup))::int8 AS bytes`;

/** The statements that need the time, which `now` yields. */
const statementsAt = (now: string) => ({
  take: takeAt(now),
  giveBack: giveBackAt(now),
  blockedFor: blockedForAt(now),
  wrong: wrongAt(now),
  right: rightAt(now),
  removeEnded: removeEndedAt(now),
});

/** Rows that one statement removes. */
const PORTION = 1000;
/** Most counts that wait for an answer: if the server is slower than the requests, they must not pile up without a bound. */
const MOST_WAITING = 10_000;
const DEADLINE_MS = 3000;

/** Dependencies of the counters. */
export interface CounterParts {
  /** Opens a connection. */
  readonly open: () => Promise<DatabaseSession>;
  /** Runs a statement that takes long on another connection: counts are answered in order. */
  readonly runLong: (sql: string, values: readonly unknown[]) => Promise<Result>;
  /** Milliseconds after which a statement without an answer has failed; 3 s if absent. */
  readonly deadlineMs?: number | undefined;
  /** An SQL expression for milliseconds since 1970; the time of the server if absent. */
  readonly clock?: string | undefined;
}

export class PostgresCounters implements SharedCounters {
  readonly #parts: CounterParts;
  readonly #statements: ReturnType<typeof statementsAt>;
  #session: DatabaseSession | null = null;
  #opening: Promise<DatabaseSession> | null = null;
  #waiting = 0;
  #closed = false;

  constructor(parts: CounterParts) {
    this.#parts = parts;
    this.#statements = statementsAt(parts.clock ?? serverTime);
  }

  async take({ scope, key, want = 1, need = 1, most, share = 1, milliseconds }: WindowRequest): Promise<WindowState> {
    const { rows } = await this.#run(this.#statements.take, [scope, key, want, need, most, share, milliseconds]);
    const taken = rows[0] as unknown as Omit<WindowState, 'window'>;
    return { ...taken, window: taken.endsAt };
  }

  async giveBack(scope: string, key: string, amount: number, window?: number): Promise<void> {
    await this.#run(this.#statements.giveBack, [scope, key, amount, window ?? null]);
  }

  blockedFor(scope: string, key: string, most: number): Promise<number> {
    return this.#left(this.#statements.blockedFor, [scope, key, most]);
  }

  wrong(scope: string, key: string, { forget, free, first, longest }: Backoff): Promise<number> {
    return this.#left(this.#statements.wrong, [scope, key, forget, free, first, longest]);
  }

  right(scope: string, key: string): Promise<number> {
    return this.#left(this.#statements.right, [scope, key]);
  }

  async sweep(scope: string, most: number): Promise<void> {
    await this.#inPortions(this.#statements.removeEnded, [PORTION]);
    await this.#inPortions(removeExcess, [scope, most, PORTION]);
  }

  async storedBytes(): Promise<number> {
    return (await this.#parts.runLong(storedBytes, [])).rows[0]!.bytes as number;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening?.catch(() => {});
    await this.#session?.close();
  }

  async #left(sql: string, values: readonly unknown[]): Promise<number> {
    const { rows } = await this.#run(sql, values);
    return Math.max(0, (rows[0]?.left as number | undefined) ?? 0);
  }

  async #inPortions(sql: string, values: readonly unknown[]): Promise<void> {
    let removed = PORTION;
    while (removed === PORTION && !this.#closed) removed = (await this.#parts.runLong(sql, values)).rows.length;
  }

  async #run(sql: string, values: readonly unknown[]): Promise<Result> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    if (this.#waiting >= MOST_WAITING)
      throw new StoreUnavailable('the server does not keep up with the counts of limits');
    this.#waiting++;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => this.#giveUp(late.reject), this.#parts.deadlineMs ?? DEADLINE_MS);
    try {
      return await Promise.race([late.promise, this.#connected().then(session => session.run(sql, values))]);
    } catch (error) {
      throw toFailure(error, 'cannot count for a limit');
    } finally {
      clearTimeout(timer);
      this.#waiting--;
    }
  }

  /** Cuts the connection, so that the next count tries another one and the statements on this one do not pile up. */
  #giveUp(reject: (error: Error) => void): void {
    reject(new StoreUnavailable('cannot count for a limit: the server does not answer'));
    this.#session?.destroy();
  }

  async #connected(): Promise<DatabaseSession> {
    if (this.#session?.alive) return this.#session;
    this.#opening ??= this.#parts
      .open()
      .then(session => {
        this.#session = session;
        return session;
      })
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }
}
