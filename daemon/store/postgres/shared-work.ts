/** Work that one node at a time does, and its progress. */
import { createHash } from 'node:crypto';
import type { HeldWork, SharedWork } from '../store.ts';
import { countDaemons } from './daemon-lock.ts';
import type { Readers } from './readers.ts';
import type { DatabaseSession, Result } from './session.ts';

/** The first number of the advisory locks of shared work ('DvMw'). */
const workSpace = 0x44764d77;
/** Milliseconds between two statements that show that this node works. The server frees the work after three times as long without one. */
const ALIVE_MS = 3000;

/** Dependencies of shared work. */
interface SharedWorkParts {
  readonly readers: Pick<Readers, 'runOnce'>;
  /** Opens a connection that the server ends after 10 s without a statement. */
  readonly open: () => Promise<DatabaseSession>;
}

/** The second number of the lock: 32 bits of a digest. Two works with the same number would only wait for each other. */
const lockOf = (work: string): number => createHash('sha256').update(work).digest().readInt32BE();

/**
 * The connection that has the locks of all works of this process. They belong to the session, in which a transaction is open, so that the
 * server also frees them if this process hangs. The transaction has no snapshot between its statements, so it keeps no old rows.
 */
class LockSession {
  /** Works that have a lock here, or try to get one. */
  users = 0;
  readonly #session: Promise<DatabaseSession>;
  readonly #lost = new AbortController();
  readonly #timer = setInterval(() => void this.#run('SELECT 1').catch(() => {}), ALIVE_MS).unref();

  constructor(open: () => Promise<DatabaseSession>) {
    this.#session = this.#begin(open);
    this.#session.catch(() => this.#end());
  }

  /** Aborted when another process may have the works. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async lock(lock: readonly number[]): Promise<boolean> {
    const { rows } = await this.#run('SELECT pg_try_advisory_lock($1, $2) AS taken', lock);
    return rows[0]!.taken === true;
  }

  /** A session that is lost has freed it. */
  async unlock(lock: readonly number[]): Promise<void> {
    if (!this.lost.aborted) await this.#run('SELECT pg_advisory_unlock($1, $2)', lock);
  }

  async close(): Promise<void> {
    this.#end();
    await this.#session.then(session => session.close()).catch(() => {});
  }

  async #begin(open: () => Promise<DatabaseSession>): Promise<DatabaseSession> {
    const session = await open();
    await session.runOnce('BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY').catch(error => {
      session.destroy();
      throw error;
    });
    void session.ended.then(() => this.#end());
    return session;
  }

  #end(): void {
    clearInterval(this.#timer);
    this.#lost.abort();
  }

  async #run(sql: string, values: readonly unknown[] = []): Promise<Result> {
    const session = await this.#session;
    try {
      return await session.runOnce(sql, values);
    } catch (error) {
      session.destroy();
      this.#end();
      throw error;
    }
  }
}

export class PostgresSharedWork implements SharedWork {
  readonly #parts: SharedWorkParts;
  /** Works that this process has, or tries to take. */
  readonly #works = new Set<string>();
  #session: LockSession | null = null;

  constructor(parts: SharedWorkParts) {
    this.#parts = parts;
  }

  async take(work: string): Promise<HeldWork | null> {
    // The server would give a session its own lock a second time.
    if (this.#works.has(work)) return null;
    this.#works.add(work);
    let held: HeldWork | null = null;
    try {
      held = await this.#take(work);
    } finally {
      if (!held) this.#works.delete(work);
    }
    return held;
  }

  async users(): Promise<number> {
    return (await this.#parts.readers.runOnce(countDaemons.sql, countDaemons.values)).rows[0]!.users as number;
  }

  async note(name: string): Promise<string | null> {
    const { rows } = await this.#parts.readers.runOnce('SELECT value FROM meta WHERE name = $1', [name]);
    return (rows[0]?.value as string | undefined) ?? null;
  }

  async replaceNote(name: string, before: string | null, text: string): Promise<boolean> {
    const { rows } =
      before === null
        ? await this.#parts.readers.runOnce(
            'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1 AS done',
            [name, text],
          )
        : await this.#parts.readers.runOnce(
            'UPDATE meta SET value = $2 WHERE name = $1 AND value = $3 RETURNING 1 AS done',
            [name, text, before],
          );
    return rows.length > 0;
  }

  async #take(work: string): Promise<HeldWork | null> {
    const lock = [workSpace, lockOf(work)];
    // Without a connection for locks, which a daemon need not have that only waits for the others.
    const free = await this.#parts.readers.runOnce('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', lock);
    if (free.rows[0]!.taken !== true) return null;
    const session = this.#enter();
    const taken = await session.lock(lock).catch(async error => {
      await this.#leave(session);
      throw error;
    });
    if (!taken) {
      await this.#leave(session);
      return null;
    }
    return {
      lost: session.lost,
      release: async () => {
        this.#works.delete(work);
        await session.unlock(lock).finally(() => this.#leave(session));
      },
    };
  }

  #enter(): LockSession {
    if (!this.#session || this.#session.lost.aborted) this.#session = new LockSession(this.#parts.open);
    this.#session.users++;
    return this.#session;
  }

  async #leave(session: LockSession): Promise<void> {
    if (--session.users > 0) return;
    if (this.#session === session) this.#session = null;
    await session.close();
  }
}
