/** A connection to the server. */

import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { StoreMisconfigured } from '../database.ts';
import type { Address } from './address.ts';

/** How to reach a database. */
export interface DatabaseLogin {
  readonly address: Address;
  /** Null if there is none. */
  readonly password: string | null;
}

/** Settings of a session; those of the role or the database do not apply to it. */
export interface SessionSettings {
  /** Milliseconds after which the server ends a session that waits inside a transaction. */
  readonly idleInTransactionMs: number;
  /** Milliseconds that a statement waits for a lock. */
  readonly lockMs: number;
  /**
   * Milliseconds in which the server must answer one of the statements that wait; then the connection is cut, because its other end may
   * be gone or stand still. A statement is never cancelled: it may be COMMIT. Without an end if absent.
   */
  readonly answerMs?: number | undefined;
}

/** Rows by column name. Numbers are safe integers. */
export interface Result {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The command, such as COMMIT: for an aborted transaction, the server answers COMMIT with ROLLBACK. */
  readonly tag: string;
}

/** For messages, and for a person who looks at the sessions of the server. The server takes 63 bytes of ASCII. */
const processName = `devmgr ${hostname()
  .replaceAll(/[^\x21-\x7e]/g, '?')
  .slice(0, 40)} ${process.pid}`;
const CONNECT_MS = 5000;
/** Milliseconds in which the server must end a connection that has nothing left to answer. */
const CLOSE_MS = 5000;
const INT8 = 20;
/** Names of prepared statements by their text, for all sessions of the process. */
const names = new Map<string, string>();

/** Members that `pg` does not declare. */
interface WiredClient {
  readonly connection: { readonly stream: Duplex };
}

/** A connection. Statements are sent at once and answered in order. */
export class DatabaseSession {
  /** Warnings of the server since they were last cleared. */
  warnings: string[] = [];
  /** How many statements have no answer yet. */
  pending = 0;
  /** The timeline of its server, as `Primary.check` has found it. */
  timeline = '';
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  readonly #client: pg.Client;
  readonly #answerMs: number | undefined;
  #silence: NodeJS.Timeout | undefined;
  #isClosing = false;
  #failure: Error | null = null;

  private constructor(client: pg.Client, answerMs: number | undefined) {
    this.#client = client;
    this.#answerMs = answerMs;
    this.ended = new Promise(resolve => void client.once('end', resolve));
    // Without a listener, the end of an idle connection would end the process.
    client.on('error', error => {
      this.#failure ??= error;
    });
    client.on('end', () => {
      this.#failure ??= new Error('the connection has ended');
    });
    client.on('notice', ({ message }) => this.warnings.push(message ?? ''));
  }

  /** Rejects with the error of the server or the connection. */
  static async open(login: DatabaseLogin, settings: SessionSettings): Promise<DatabaseSession> {
    const client = new pg.Client(clientConfig(login, settings));
    const session = new DatabaseSession(client, settings.answerMs);
    try {
      await client.connect();
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /** Whether the connection works, as far as is known. */
  get alive(): boolean {
    return this.#failure === null;
  }

  /** Calls the listener for each NOTIFY of a channel that this connection listens to. */
  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''));
  }

  /** All queries of `send` reach the server in one piece: one system call, and the server wakes up once. */
  together<T>(send: () => T): T {
    const { stream } = (this.#client as unknown as WiredClient).connection;
    stream.cork();
    try {
      return send();
    } finally {
      stream.uncork();
    }
  }

  /** Runs a statement that is prepared once for a connection. */
  run(sql: string, values: readonly unknown[] = []): Promise<Result> {
    const name = names.get(sql) ?? `devmgr_${names.size + 1}`;
    names.set(sql, name);
    return this.#send({ name, text: sql, values: values as unknown[] });
  }

  /** Runs a statement that is planned for its values. */
  runOnce(sql: string, values: readonly unknown[] = []): Promise<Result> {
    return this.#send({ text: sql, values: values as unknown[] });
  }

  /** Like `runOnce`. Rows have their values in the order of the columns: half the memory of objects. */
  async runForValues(sql: string, values: readonly unknown[] = []): Promise<readonly (readonly unknown[])[]> {
    const { rows } = await this.#send({ text: sql, values: values as unknown[], rowMode: 'array' } as pg.QueryConfig);
    return rows as unknown as (readonly unknown[])[];
  }

  /** Ends the connection when everything is answered, or cuts it if the server then does not end it. */
  async close(): Promise<void> {
    if (this.alive) {
      this.#isClosing = true;
      if (this.pending === 0) this.#expectNext();
      await this.#client.end().catch(() => {});
    }
    clearTimeout(this.#silence);
    this.#failure ??= new Error('the connection is closed');
  }

  /** Cuts the connection. What was sent may still be carried out. */
  destroy(): void {
    this.#failure ??= new Error('the connection was cut');
    (this.#client as unknown as WiredClient).connection.stream.destroy();
  }

  async #send(query: pg.QueryConfig): Promise<Result> {
    if (this.pending++ === 0) this.#expectNext();
    try {
      const { rows, command } = await this.#client.query(query);
      return { rows, tag: command };
    } finally {
      if (--this.pending === 0) this.#expectNext();
      else this.#silence?.refresh();
    }
  }

  /** Cuts the connection if the server neither answers in time nor, when everything is answered, ends a session that is closed. */
  #expectNext(): void {
    clearTimeout(this.#silence);
    const ending = this.#isClosing ? Math.min(CLOSE_MS, this.#answerMs ?? CLOSE_MS) : undefined;
    const ms = this.pending > 0 ? this.#answerMs : ending;
    if (ms !== undefined) this.#silence = setTimeout(() => this.destroy(), ms);
  }
}

function clientConfig(
  { address, password }: DatabaseLogin,
  { idleInTransactionMs, lockMs }: SessionSettings,
): pg.ClientConfig {
  const { host, port, database, user, tls } = address;
  // statement_timeout would cancel a COMMIT that waits for a standby; hidden warnings would hide that it was cancelled.
  const settings = {
    statement_timeout: 0,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    lock_timeout: lockMs,
    client_min_messages: 'warning',
    default_transaction_isolation: 'read\\ committed',
    jit: 'off',
    // The server must notice that this machine is gone: the session holds locks.
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 3,
  };
  const types = {
    getTypeParser: (oid: number, format?: string) =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  };
  return {
    host,
    port,
    database,
    user,
    ssl:
      tls === false
        ? false
        : { ...tls, ...(tls.checkServerIdentity && { checkServerIdentity: tls.checkServerIdentity }) },
    password: () => {
      if (password !== null) return password;
      throw new StoreMisconfigured(
        `${address.text} asks for a password, and there is none`,
        'name a file with DEVMGR_STORE_PASSWORD_FILE, or write ~/.pgpass',
      );
    },
    application_name: processName,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_MS,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    types,
    pipeline: true,
  } as pg.ClientConfig;
}
