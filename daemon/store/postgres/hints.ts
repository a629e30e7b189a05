/**
 * Hints that something was committed, by NOTIFY: other handles look immediately instead of at the next poll. They are sent outside of the
 * commit, because a NOTIFY in a transaction takes a lock of the whole server while it commits. A hint may be lost: the poll finds
 * what it was about.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSession } from './session.ts';

/** Dependencies of hints. */
interface HintParts {
  readonly open: () => Promise<DatabaseSession>;
  /** Called with the last entry of a commit that was announced, or with infinity if announcements may have been missed. */
  readonly heard: (lastEventId: number) => void;
}

const LISTEN = 'LISTEN devmgr_commit';
const NOTIFY = `SELECT pg_notify('devmgr_commit', $1)`;
/**
 * Milliseconds between two hints of one handle: a hint announces all commits since the last one. Each makes all other handles look, which
 * slows down frequent commits; the first hint after a pause is sent immediately.
 */
const SPACING_MS = 50;
const RECONNECT_MS = 1000;
/** A connection that is silent is asked this often, and cut if it does not answer in time. */
const PING_MS = 5000;
const ANSWER_MS = 3000;

/** Sends and hears hints on a connection of its own, which is replaced if it fails. */
export class Hints {
  readonly #parts: HintParts;
  readonly #end = new AbortController();
  readonly #listening: Promise<void>;
  #session: DatabaseSession | null = null;
  /** The last entry that is to be announced. */
  #due: number | null = null;
  #sending = false;

  constructor(parts: HintParts) {
    this.#parts = parts;
    this.#listening = this.#listen();
  }

  /** Announces a commit of this handle. Never fails; without a connection it does nothing. */
  send(lastEventId: number): void {
    this.#due = lastEventId;
    void this.#sendDue();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#listening;
  }

  async #sendDue(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    while (this.#due !== null && this.#session?.alive) {
      const id = this.#due;
      this.#due = null;
      await Promise.all([this.#ask(this.#session, NOTIFY, [String(id)]), this.#pause(SPACING_MS)]);
    }
    this.#due = null;
    this.#sending = false;
  }

  async #listen(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const session = await this.#parts.open().catch(() => null);
      if (session) await this.#serve(session);
      await this.#pause(RECONNECT_MS);
    }
  }

  async #serve(session: DatabaseSession): Promise<void> {
    session.onNotification(payload => this.#parts.heard(Number(payload)));
    await this.#ask(session, LISTEN, []);
    this.#session = session;
    this.#parts.heard(Number.POSITIVE_INFINITY);
    while (session.alive && !this.#end.signal.aborted) {
      await Promise.race([session.ended, this.#pause(PING_MS)]);
      if (session.alive && !this.#end.signal.aborted) await this.#ask(session, 'SELECT 1', []);
    }
    this.#session = null;
    await session.close();
  }

  /** Closes the connection if the server does not answer in time. Never rejects. */
  async #ask(session: DatabaseSession, sql: string, values: readonly unknown[]): Promise<void> {
    const timer = setTimeout(() => session.destroy(), ANSWER_MS);
    await session.runOnce(sql, values).catch(() => session.destroy());
    clearTimeout(timer);
  }

  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { ref: false, signal: this.#end.signal }).catch(() => {});
  }
}
