/** The connections of one store: a single one for writing, and those for reading. */
import type { Address } from './address.ts';
import { StoreUnreachable, toOpenFailure } from './failure.ts';
import { lockSpace } from './migrate.ts';
import type { Primary } from './primary.ts';
import { type Login, Session, type SessionSettings } from './session.ts';

/** The server frees the lock of a node that stands still. */
const writing: SessionSettings = { idleInTransactionMs: 2000, lockMs: 10_000 };
const reading: SessionSettings = { idleInTransactionMs: 10_000, lockMs: 10_000 };
/** An export waits for its client between two reads. */
const scanning: SessionSettings = { idleInTransactionMs: 600_000, lockMs: 10_000 };

const DAEMON_LOCK = 2;

/** An acknowledged commit must be on disk, whatever the server does by default; a wait for standbys stays. */
export const durable = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`;
/** PostgreSQL 17 can cancel a transaction by time, also one that commits. */
export const unlimited = `SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('server_version_num')::int >= 170000`;

/** How to connect. */
export interface ConnectionParts {
  readonly login: Login;
  readonly primary: Primary;
}

/** Opens sessions, each checked before its first use. All reject with a `StoreFailure`. */
export class Connections {
  readonly #parts: ConnectionParts;
  #writer: Session | null = null;
  #closed = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** The session for writing; a new one if the last one has failed. It keeps maintenance away that needs the database alone. */
  async writer(): Promise<Session> {
    if (this.#writer?.alive) return this.#writer;
    const session = await this.#open(writing, async opened => {
      await opened.runOnce(durable);
      await opened.runOnce(unlimited);
      await joinDaemons(opened, this.#parts.login.address);
    });
    this.#writer = session;
    return session;
  }

  reader(): Promise<Session> {
    return this.#open(reading, async () => {});
  }

  /** For counters and hints: a crash of the server may lose both, so that nothing need reach a disk or a standby. */
  counter(): Promise<Session> {
    return this.#open(writing, async opened => {
      await opened.runOnce('SET synchronous_commit = off');
    });
  }

  /** For work that one node at a time does. */
  worker(): Promise<Session> {
    return this.#open(reading, async () => {});
  }

  scanner(): Promise<Session> {
    return this.#open(scanning, async () => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#writer?.close();
  }

  async #open(settings: SessionSettings, prepare: (session: Session) => Promise<void>): Promise<Session> {
    const { login, primary } = this.#parts;
    let session: Session | undefined;
    try {
      if (this.#closed) throw new StoreUnreachable('the store is closed', '');
      session = await Session.open(login, settings);
      // First: a restore holds the journal, and the check reads it.
      await prepare(session);
      await primary.check(session);
      return session;
    } catch (error) {
      session?.destroy();
      throw toOpenFailure(error, login.address.text);
    }
  }
}

/** Daemons share this lock; what replaces rows behind them takes it alone. A session holds it until its end. */
async function joinDaemons(session: Session, { text }: Address): Promise<void> {
  if (await isTaken(session, 'pg_try_advisory_lock_shared')) return;
  throw new StoreUnreachable(
    `${text} is being copied or restored${await byWhom(session)}`,
    'start the daemon when that has ended',
  );
}

/** Keeps all daemons away from the database until the session ends. Rejects with `StoreUnreachable` if one uses it. */
export async function takeDaemonLock(session: Session, { text }: Address): Promise<void> {
  if (await isTaken(session, 'pg_try_advisory_lock')) return;
  throw new StoreUnreachable(
    `a daemon uses ${text}${await byWhom(session)}`,
    'stop all daemons of this registry first',
  );
}

async function isTaken(session: Session, lock: string): Promise<boolean> {
  const { rows } = await session.runOnce(`SELECT ${lock}($1, $2) AS taken`, [lockSpace, DAEMON_LOCK]);
  return rows[0]!.taken === true;
}

/** The names of the sessions that hold the lock, as `Session` makes them; an empty text if they have just ended. */
async function byWhom(session: Session): Promise<string> {
  const { rows } = await session.runOnce(
    `SELECT DISTINCT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND classid = $1::int8::oid AND objid = $2::int8::oid AND granted AND pid <> pg_backend_pid()
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1`,
    [lockSpace, DAEMON_LOCK],
  );
  const names = rows.map(({ name }) => name as string).filter(Boolean);
  return names.length ? `: ${names.join(', ')}` : '';
}
