/**
 * Commits of other handles, read from the journal, because hints can be lost. Changed users and tokens are reported as soon as
 * the change is visible, entries when they are confirmed.
 */
import { entryTypes, type SubjectKind, subjectKindOf } from '../journal.ts';
import type { CommitNotice } from '../store.ts';
import type { ConfirmedEntry } from './confirmed.ts';
import type { CommittedTransaction } from './engine.ts';
import type { Primary } from './primary.ts';
import type { Readers } from './readers.ts';

/** Dependencies of the watch. */
interface WatchParts {
  readonly readers: Pick<Readers, 'run'>;
  readonly confirmed: Pick<ConfirmedEntry, 'id' | 'rise' | 'reach'>;
  /** `timeline`: that of the server that the last read has used, or a later one. */
  readonly primary: Pick<Primary, 'timeline' | 'now' | 'clockOff'>;
  readonly notify: (notice: CommitNotice) => void;
  /** Id of the last entry when the store was opened. */
  readonly from: number;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
}

/** Types about other subjects. Those of a later version are not among them: they can be about a user or a service token. */
const others = entryTypes.filter(type => ![null, 'user', 'serviceToken'].includes(subjectKindOf(type) ?? null));
/** The entries that can be about a user or a service token, or, without a subject, about all sessions of single sign-on. */
const subjects = `SELECT DISTINCT type, subject FROM event
  WHERE id > $1 AND id <= $2 AND device IS NULL AND (type = 'SSO_SESSIONS_ENDED' OR
    subject IS NOT NULL AND type NOT IN (${others.map(type => `'${type}'`).join(', ')}))`;

const headAndClock = 'SELECT event, (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now FROM head';

/** Looks for new entries and notifies of them. */
export class Watch {
  readonly #parts: WatchParts;
  /** Every commit up to this entry was notified, and is confirmed; null if that is not known of any. */
  #seen: number | null;
  #timeline: string;
  #running: Promise<void> | null = null;
  /** A hint came during a look, which may have read before. */
  #lookAgain = false;
  #confirming = false;
  #stopped = false;
  #clockIsOff = false;
  /** When the last look that succeeded was begun, by `performance.now()`. */
  #lookedAt = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#seen = parts.confirmed.id >= parts.from ? parts.from : null;
    this.#timeline = parts.primary.timeline;
    this.#timer = setInterval(() => void this.look(), parts.everyMs);
    this.#timer.unref();
  }

  /** A commit of this handle: if no other commit came before it, there is nothing to read. */
  own({ notice, after }: CommittedTransaction): void {
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

  /** Another handle has confirmed this entry, or may have: infinity. Looks at once if that is not known. */
  hint(lastEventId: number): void {
    if (Number.isSafeInteger(lastEventId)) this.#parts.confirmed.rise(lastEventId);
    if (this.#seen !== null && lastEventId <= this.#seen) return;
    if (this.#running) this.#lookAgain = true;
    else void this.look();
  }

  /** Milliseconds since everything was known that had been committed. */
  behind(): number {
    return performance.now() - this.#lookedAt;
  }

  /** Whether the clocks of this node and of the database differed at the last look: writes are refused then. */
  clockIsOff(): boolean {
    return this.#clockIsOff;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped = true;
    this.#lookAgain = false;
    await this.#running;
  }

  async #look(): Promise<void> {
    const { readers, confirmed, primary } = this.#parts;
    const begun = performance.now();
    const asked = primary.now();
    const { event: last, now } = (await readers.run(headAndClock)).rows[0] as { event: number; now: number };
    this.#clockIsOff = primary.clockOff(now, asked) > 0;
    if (last > confirmed.id) void this.#confirm(last);
    if (this.#seen === null || primary.timeline !== this.#timeline) this.#startOver(Math.min(last, confirmed.id));
    else if (last > this.#seen) await this.#report(this.#seen, last);
    this.#lookedAt = begun;
  }

  /**
   * After a failover, the new server may lack entries of the last one. `through`: id of the last entry that is visible and
   * confirmed.
   */
  #startOver(through: number): void {
    const { notify, primary, from } = this.#parts;
    this.#timeline = primary.timeline;
    if (through > 0 || from === 0) this.#seen = Math.max(this.#seen ?? 0, through);
    notify({ lastEventId: through, users: [], serviceTokens: [], everything: true });
  }

  /** While entries are not confirmed, each look reports again what they change. */
  async #report(from: number, last: number): Promise<void> {
    const { readers, confirmed, notify } = this.#parts;
    const through = Math.max(from, Math.min(last, confirmed.id));
    const { rows } = await readers.run(subjects, [from, last], 'long');
    const named = rows.filter(({ subject }) => subject !== null);
    const of = (kind: SubjectKind) => {
      const found = named.filter(({ type }) => (subjectKindOf(type as string) ?? kind) === kind);
      return [...new Set(found.map(({ subject }) => subject as number))];
    };
    const everything = named.length < rows.length ? { everything: true } : {};
    this.#seen = Math.max(this.#seen ?? 0, through);
    if (through > from || rows.length > 0)
      notify({ lastEventId: through, users: of('user'), serviceTokens: of('serviceToken'), ...everything });
  }

  /** Has the entry confirmed, and reports it. Never rejects. */
  async #confirm(id: number): Promise<void> {
    if (this.#confirming) return;
    this.#confirming = true;
    const isConfirmed = await this.#parts.confirmed.reach(id).then(
      () => true,
      () => false,
    );
    this.#confirming = false;
    if (isConfirmed && !this.#stopped) await this.look();
  }
}
