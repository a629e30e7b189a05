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
const unlimited = `SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('server_version_num')::int >= 170000`;

/** How to connect. */
export interface ConnectionParts {
  readonly login: Login;
  readonly primary: Primary;
  /** Whether no other daemon may use the database meanwhile. */
  readonly exclusive: boolean;
}

/** Opens sessions, each checked before its first use. All reject with a `StoreFailure`. */
export class Connections {
  readonly #parts: ConnectionParts;
  #writer: Session | null = null;
  #closed = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** The session for writing; a new one if the last one has failed. It holds the lock of the daemon, if there is one. */
  async writer(): Promise<Session> {
    if (this.#writer?.alive) return this.#writer;
    const session = await this.#open(writing, async opened => {
      await opened.runOnce(durable);
      await opened.runOnce(unlimited);
      if (this.#parts.exclusive) await takeDaemonLock(opened, this.#parts.login.address);
    });
    this.#writer = session;
    return session;
  }

  reader(): Promise<Session> {
    return this.#open(reading, async () => {});
  }

  /** For counters: a crash of the server empties their table, so that nothing need reach a disk or a standby. */
  counter(): Promise<Session> {
    return this.#open(writing, async opened => {
      await opened.runOnce('SET synchronous_commit = off');
    });
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
      await primary.check(session);
      await prepare(session);
      return session;
    } catch (error) {
      session?.destroy();
      throw toOpenFailure(error, login.address.text);
    }
  }
}

/** The services of a daemon know its own commits at once and those of others later: two must not share a database yet. */
export async function takeDaemonLock(session: Session, { text }: Address): Promise<void> {
  const { rows } = await session.runOnce('SELECT pg_try_advisory_lock($1, $2) AS taken', [lockSpace, DAEMON_LOCK]);
  if (rows[0]!.taken !== true)
    throw new StoreUnreachable(`another daemon uses ${text}`, 'stop it first: one daemon at a time can use a database');
}
