/** The transactions of a handle, each in two round trips (see `transaction.ts`), and whether a commit without an answer was written. */
import { setTimeout as sleep } from 'node:timers/promises';
import { retry, waitMs } from '../../../src/delivery/retry.ts';
import { schedules } from '../../../src/delivery/schedules.ts';
import { OutcomeUnknown, StoreFailure, StoreUnavailable } from '../commit.ts';
import type { JournalEnd } from '../journal-end.ts';
import type { JournalHead } from '../queries.ts';
import type { CommitNotice } from '../store.ts';
import type { Subjects } from '../subjects.ts';
import type { Draft } from '../write/draft.ts';
import { type Batch, type Engine, type FailedTransaction, Unstorable } from '../write/group.ts';
import { toFailure } from './failure.ts';
import { TransactionReads } from './load.ts';
import type { Primary } from './primary.ts';
import type { DatabaseSession } from './session.ts';
import { abandon, begin, checkCommitted, finish, NoAnswer, NotWritten, UnknownSeal } from './transaction.ts';

/** A transaction that was committed. */
export interface CommittedTransaction {
  readonly notice: CommitNotice;
  /** Id of the last entry before it. */
  readonly after: number;
  readonly draft: Draft;
}

/** Dependencies of the engine. */
interface EngineParts {
  readonly subjects: Subjects;
  /** The session for writing, checked: a new one if the last one has failed. */
  readonly session: () => Promise<DatabaseSession>;
  readonly end: JournalEnd;
  readonly primary: Primary;
  /** Reads the keys of the journal again. Resolves with whether there is a new one. */
  readonly learnKeys: () => Promise<boolean>;
  /** Called after a transaction has committed and before the promises of its commits resolve. */
  readonly committed: (committed: CommittedTransaction) => void;
  /** Milliseconds for which a commit without an answer is looked for. */
  readonly patienceMs: number;
}

export class PostgresEngine implements Engine {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  async transaction(batch: Batch): Promise<boolean> {
    let outages = 0;
    await retry(
      () => this.#attempt(batch),
      async error => {
        if (error instanceof UnknownSeal && (await this.#learns())) outages = 0;
        else if (!(error instanceof NotWritten && error.isOutage) || waitMs(schedules.connection, outages++) === null)
          throw error;
      },
    );
    return true;
  }

  failed(error: unknown): FailedTransaction {
    const isOutage = error instanceof StoreFailure || (error instanceof NotWritten && error.isOutage);
    const cause = error instanceof NotWritten || error instanceof Unstorable ? error.cause : error;
    return { failure: toFailure(cause, 'nothing was written'), isOutage, isShared: isOutage };
  }

  closed(): StoreFailure {
    return new StoreUnavailable('the store is closed');
  }

  /**
   * Commits that arrive while another daemon holds the lock join the batch: groups are larger, and the lock changes hands less often.
   */
  async #attempt(batch: Batch): Promise<void> {
    const { subjects, end, primary } = this.#parts;
    const session = await this.#parts.session();
    try {
      const loading = new TransactionReads(session, subjects);
      batch.open(joined => session.together(() => loading.send(joined)));
      const beginning = { subjects, session, commits: batch.commits, loading, end, primary };
      const { draft, after } = await begin(beginning, () => batch.close());
      await whileAlive(session, batch.apply(draft));
      if (draft.isEmpty) await abandon(session);
      else await this.#finish(session, draft, after);
    } catch (error) {
      // Whatever the error was, the transaction must not stay open.
      if (error instanceof NoAnswer) session.destroy();
      else if (session.alive) await abandon(session);
      throw error;
    }
  }

  async #finish(session: DatabaseSession, draft: Draft, after: number): Promise<void> {
    const { subjects, primary, committed } = this.#parts;
    const end = await finish(subjects, session, draft).catch(error => this.#afterNoAnswer(session, draft, error));
    primary.knows(end);
    committed({ notice: subjects.noticeOf(draft), after, draft });
  }

  /** Resolves with the end of the journal if the commit was written after all. */
  async #afterNoAnswer(session: DatabaseSession, draft: Draft, error: unknown): Promise<JournalHead> {
    const mark = draft.events.at(-1);
    // A commit without a journal entry can be written again: the result is the same.
    if (!(error instanceof NoAnswer) || !mark)
      throw error instanceof NoAnswer ? new NotWritten(error.cause ?? error) : error;
    session.destroy();
    if (await wasWritten(this.#parts.session, mark, this.#parts.patienceMs)) return { id: mark.id, mac: mark.mac };
    throw new NotWritten(error.cause ?? error);
  }

  /** A file that cannot be read leaves the node without the key: the commit reports this. */
  #learns(): Promise<boolean> {
    return this.#parts.learnKeys().catch(() => false);
  }
}

/** Milliseconds between two statements while changes are applied: the server ends a transaction after 2 s without one. */
const ALIVE_MS = 500;

/** Shows the server that this node is busy with its transaction, and does not stand still: then no timer runs. */
async function whileAlive(session: DatabaseSession, work: Promise<void>): Promise<void> {
  const timer = setInterval(() => void session.run('SELECT 1').catch(() => {}), ALIVE_MS);
  await work.finally(() => clearInterval(timer));
}

/**
 * Whether the journal contains the last entry of the commit. The lock comes first: as long as the commit is being carried out, its
 * session holds it. If the entry is there, one more durable write makes sure that everything before it is as durable. Rejects with
 * `OutcomeUnknown`.
 */
async function wasWritten(
  connect: () => Promise<DatabaseSession>,
  mark: JournalHead,
  patienceMs: number,
): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  return retry(
    async () => look(await connect(), mark),
    async (error, failures) => {
      await sleep(Math.min(waitMs(schedules.outcome, failures)!, patienceMs));
      if (performance.now() < deadline) return;
      const why = error instanceof Error ? error.message : String(error);
      throw new OutcomeUnknown(`the server has not said whether journal entry ${mark.id} was written: ${why}`, {
        cause: error,
      });
    },
  );
}

async function look(session: DatabaseSession, { id, mac }: JournalHead): Promise<boolean> {
  session.warnings = [];
  try {
    const [, , entry] = await Promise.all([
      session.run('BEGIN ISOLATION LEVEL READ COMMITTED'),
      session.run('SELECT event FROM head FOR UPDATE'),
      session.run('SELECT mac FROM event WHERE id = $1', [id]),
    ]);
    if (entry.rows[0]?.mac !== mac) {
      await session.run('ROLLBACK');
      return false;
    }
    const [, committed] = await Promise.allSettled([
      session.run('UPDATE head SET touched = touched + 1'),
      session.run('COMMIT'),
    ]);
    checkCommitted(session, committed);
    return true;
  } catch (error) {
    session.destroy();
    throw error;
  }
}
