/** Commits of other handles: read from the journal, because no hint is as sure as that. */
import type { CommitNotice } from '../store.ts';
import type { Committed } from './group.ts';
import type { Readers } from './readers.ts';

/** What the watch works with. */
export interface WatchParts {
  readonly readers: Pick<Readers, 'run'>;
  readonly notify: (notice: CommitNotice) => void;
  /** Id of the last entry, whose commit everyone knows. */
  readonly from: number;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
}

/** The entries that are about a user or a service token. */
const subjects = `SELECT DISTINCT type LIKE 'TOKEN\\_%' AS "isToken", subject FROM event
  WHERE id > $1 AND id <= $2 AND device IS NULL AND subject IS NOT NULL AND type <> 'APP_VERSION_UPLOADED'`;

/** Looks for new entries and notifies of them. */
export class Watch {
  readonly #parts: WatchParts;
  /** Every commit up to this entry was notified. */
  #seen: number;
  #running: Promise<void> | null = null;
  /** A hint came during a look, which may have read before. */
  #lookAgain = false;
  /** When the last look that succeeded was begun, by `performance.now()`. */
  #lookedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#seen = parts.from;
    this.#timer = setInterval(() => void this.look(), parts.everyMs);
    this.#timer.unref();
  }

  /** A commit of this handle: if no other commit came before it, there is nothing to read. */
  own({ notice, after }: Committed): void {
    if (this.#seen === after) this.#seen = notice.lastEventId;
  }

  /** Notifies of what other handles have committed. Never rejects: the next look repeats what failed. */
  look(): Promise<void> {
    this.#running ??= this.#look()
      .catch(() => {})
      .finally(() => {
        this.#running = null;
        if (!this.#lookAgain) return;
        this.#lookAgain = false;
        void this.look();
      });
    return this.#running;
  }

  /** Looks at once if the entry is not known. */
  hint(lastEventId: number): void {
    if (lastEventId <= this.#seen) return;
    if (this.#running) this.#lookAgain = true;
    else void this.look();
  }

  /** Milliseconds since everything was known that had been committed. */
  behind(): number {
    return performance.now() - this.#lookedAt;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#lookAgain = false;
    await this.#running;
  }

  async #look(): Promise<void> {
    const { readers, notify } = this.#parts;
    const begun = performance.now();
    const last = (await readers.run('SELECT event FROM head')).rows[0]!.event as number;
    const from = this.#seen;
    if (last <= from) {
      this.#lookedAt = begun;
      return;
    }
    const { rows } = await readers.run(subjects, [from, last], 'long');
    const of = (isToken: boolean) => rows.filter(row => row.isToken === isToken).map(row => row.subject as number);
    this.#seen = Math.max(this.#seen, last);
    notify({ lastEventId: last, users: of(false), serviceTokens: of(true) });
    this.#lookedAt = begun;
  }
}
