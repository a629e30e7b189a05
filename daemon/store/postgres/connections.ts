/** The connections of one store: a single one for writing, and those for reading. */
import { StoreUnreachable } from '../database.ts';
import { joinDaemons } from './daemon-lock.ts';
import { toOpenFailure } from './failure.ts';
import { versionOf } from './migrate.ts';
import { migrations } from './migrations.ts';
import type { Primary } from './primary.ts';
import type { ReadLength } from './readers.ts';
import { type DatabaseLogin, DatabaseSession, type SessionSettings } from './session.ts';

/** The server frees the lock of a node that stands still. */
const writing: SessionSettings = { idleInTransactionMs: 2000, lockMs: 10_000, answerMs: 30_000 };
/** A list or a figure of a large registry may take long. */
const reading: SessionSettings = { idleInTransactionMs: 10_000, lockMs: 10_000, answerMs: 120_000 };
/** One look at an index. */
const looking: SessionSettings = { ...reading, answerMs: 30_000 };
/** An export waits for its client between two reads; free space is erased at once. */
const scanning: SessionSettings = { idleInTransactionMs: 600_000, lockMs: 10_000 };

/** An acknowledged commit must be on disk, whatever the server does by default; a wait for standbys stays. */
export const durable = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`;
/** PostgreSQL 17 can cancel a transaction by time, also one that commits. */
export const unlimited = `SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('server_version_num')::int >= 170000`;

async function makeDurable(session: DatabaseSession): Promise<void> {
  await session.runOnce(durable);
  await session.runOnce(unlimited);
}

/** How to connect. */
interface ConnectionParts {
  readonly login: DatabaseLogin;
  readonly primary: Primary;
  /** The version of the schema that this program knows; the released one if absent. */
  readonly schema?: number | undefined;
  /** In place of those of all connections. */
  readonly answerMs?: number | undefined;
}

/** Opens sessions, each checked before its first use. All reject with a `StoreFailure`. */
export class Connections {
  readonly #parts: ConnectionParts;
  #writer: DatabaseSession | null = null;
  #closed = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** The session for writing; a new one if the last one has failed. It keeps maintenance away that needs the database alone. */
  async writer(): Promise<DatabaseSession> {
    if (this.#writer && this.#parts.primary.serves(this.#writer)) return this.#writer;
    this.#writer?.destroy();
    const session = await this.#open(writing, async opened => {
      await makeDurable(opened);
      const { login, schema = migrations.length } = this.#parts;
      await joinDaemons(opened, login.address, schema);
      // Another release may have changed the schema while this daemon had no connection.
      await versionOf(opened, login.address, schema);
    });
    this.#writer = session;
    return session;
  }

  /** For writes that confirm others: the connection, or a new one. */
  async confirmer(last: DatabaseSession | null): Promise<DatabaseSession> {
    if (last && this.#parts.primary.serves(last)) return last;
    last?.destroy();
    return this.#open(writing, makeDurable);
  }

  reader(length: ReadLength): Promise<DatabaseSession> {
    return this.#open(length === 'short' ? looking : reading, async () => {});
  }

  /** For counters and hints: a crash of the server may lose both, so that nothing need reach a disk or a standby. */
  counter(): Promise<DatabaseSession> {
    return this.#open(writing, async opened => {
      await opened.runOnce('SET synchronous_commit = off');
    });
  }

  /** For work that one node at a time does. */
  worker(): Promise<DatabaseSession> {
    return this.#open(looking, async () => {});
  }

  scanner(): Promise<DatabaseSession> {
    return this.#open(scanning, async () => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#writer?.close();
  }

  async #open(
    settings: SessionSettings,
    prepare: (session: DatabaseSession) => Promise<void>,
  ): Promise<DatabaseSession> {
    const { login, primary, answerMs = settings.answerMs } = this.#parts;
    let session: DatabaseSession | undefined;
    try {
      if (this.#closed) throw new StoreUnreachable('the store is closed', '');
      session = await DatabaseSession.open(login, { ...settings, answerMs });
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
