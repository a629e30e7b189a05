/** Work that one node at a time does, and its progress. */
import { createHash } from 'node:crypto';
import type { HeldWork, SharedWork } from '../store.ts';
import { countDaemons } from './daemon-lock.ts';
import type { Readers } from './readers.ts';
import type { Session } from './session.ts';
import { inTime } from './transaction.ts';

/** The first number of the advisory locks of shared work ('DvMw'). */
const workSpace = 0x44764d77;
/** Milliseconds between two statements that show that this node works. The server frees the work after three times as long without one. */
const ALIVE_MS = 3000;

/** What shared work needs. */
interface SharedWorkParts {
  readonly readers: Pick<Readers, 'runOnce'>;
  /** Opens a connection that the server ends after 10 s without a statement. */
  readonly open: () => Promise<Session>;
}

/** The second number of the lock: 32 bits of a digest. Two works with the same number would only wait for each other. */
const lockOf = (work: string): number => createHash('sha256').update(work).digest().readInt32BE();

export class PostgresSharedWork implements SharedWork {
  readonly #parts: SharedWorkParts;

  constructor(parts: SharedWorkParts) {
    this.#parts = parts;
  }

  /**
   * The lock belongs to an open transaction, so that the server also frees it if this process hangs. The transaction
   * has no snapshot between its statements, so it keeps no old rows.
   */
  async take(work: string): Promise<HeldWork | null> {
    const lock = [workSpace, lockOf(work)];
    const free = await this.#parts.readers.runOnce('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', lock);
    if (free.rows[0]!.taken !== true) return null;
    const session = await this.#parts.open();
    try {
      await session.runOnce('BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY');
      const { rows } = await session.runOnce('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', lock);
      if (rows[0]!.taken === true) return hold(session);
    } catch (error) {
      session.destroy();
      throw error;
    }
    await session.close();
    return null;
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
}

function hold(session: Session): HeldWork {
  const lost = new AbortController();
  const timer = setInterval(() => {
    inTime(session, session.runOnce('SELECT 1')).catch(() => {
      clearInterval(timer);
      session.destroy();
      lost.abort();
    });
  }, ALIVE_MS).unref();
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer);
      await session.close();
    },
  };
}
