import type Database from 'better-sqlite3';
import { type Commit, Conflict, type Outcome, StoreFailure } from '../store.ts';
import { isOutage, toFailure } from './failure.ts';
import { inTurns, Turns } from './turns.ts';
import type { Writer, Written } from './write.ts';

interface Job {
  readonly commit: Commit;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: Error) => void;
}

/** What became of one commit of a transaction. */
type Result =
  | { readonly job: Job; readonly outcomes: readonly Outcome[] }
  | { readonly job: Job; readonly conflict: Conflict };

/** Told that a transaction is committed; the promises of its commits have not resolved yet. */
export type CommitListener = (what: Written) => void;

/** Changes after which a transaction takes no further commit: the first to come is not to wait for all the rest. */
const groupChanges = 2000;

/**
 * Group commit: what arrives within one turn of the event loop, or while a transaction is under way, shares the next
 * transaction and its one fsync. With 64 clients this is eight times as much as a transaction for each.
 */
export class GroupCommit {
  readonly #db: Database.Database;
  readonly #writer: Writer;
  readonly #listener: CommitListener;
  readonly #budget: number | undefined;
  #waiting: Job[] = [];
  #working: Promise<void> | null = null;
  #closed = false;
  /** The last error of the disk or the database; null after a transaction that went well. */
  #failure: StoreFailure | null = null;
  /** The writer still counts on what a rollback has undone: on a disk that failed, reading where the database stands may fail too. */
  #stale = false;

  /** `budget`: see `Turns`. */
  constructor(db: Database.Database, writer: Writer, listener: CommitListener, budget?: number) {
    this.#db = db;
    this.#writer = writer;
    this.#listener = listener;
    this.#budget = budget;
  }

  get failure(): StoreFailure | null {
    return this.#failure;
  }

  get closed(): boolean {
    return this.#closed;
  }

  add(commit: Commit): Promise<readonly Outcome[]> {
    if (this.#closed) return Promise.reject(new StoreFailure('the store is closed'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  /** Takes no more, and resolves when everything taken is settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working;
  }

  /** Tries a write that changes nothing. */
  probe(): void {
    if (this.#working) return;
    try {
      this.#db.exec(`BEGIN IMMEDIATE; INSERT INTO meta (name, value) VALUES ('probe', '0')
        ON CONFLICT DO UPDATE SET value = 1 - value; COMMIT`);
      this.#failure = null;
    } catch (error) {
      this.#rollback();
      this.#failure = this.#toFailure(error);
    }
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise(setImmediate);
      await this.#transaction(this.#nextGroup());
    }
    this.#working = null;
  }

  #nextGroup(): Job[] {
    let changes = 0;
    let end = 0;
    while (end < this.#waiting.length && changes < groupChanges) changes += this.#waiting[end++]!.commit.changes.length;
    return this.#waiting.splice(0, end);
  }

  async #transaction(jobs: readonly Job[]): Promise<void> {
    let results: Result[];
    let committed: Written | null;
    try {
      if (this.#stale) this.#reload();
      this.#db.exec('BEGIN IMMEDIATE');
      results = await inTurns(this.#applyAll(jobs), new Turns(this.#budget), 16);
      committed = this.#writer.finish();
      this.#db.exec('COMMIT');
    } catch (error) {
      await this.#failed(jobs, error);
      return;
    }
    if (committed) {
      this.#failure = null;
      this.#listener(committed);
    }
    for (const result of results) {
      if ('conflict' in result) result.job.reject(result.conflict);
      else result.job.resolve(result.outcomes);
    }
  }

  *#applyAll(jobs: readonly Job[]): Generator<void, Result[]> {
    const results: Result[] = [];
    for (const job of jobs) {
      try {
        results.push({ job, outcomes: yield* this.#writer.apply(job.commit) });
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        results.push({ job, conflict: error });
      }
      yield;
    }
    return results;
  }

  /** One commit that fails must not undo the others: each is tried by itself. */
  async #failed(jobs: readonly Job[], error: unknown): Promise<void> {
    this.#rollback();
    if (jobs.length > 1) {
      for (const job of jobs) await this.#transaction([job]);
      return;
    }
    const failure = this.#toFailure(error);
    if (isOutage(error)) this.#failure = failure;
    jobs[0]!.reject(failure);
  }

  #rollback(): void {
    this.#stale = true;
    try {
      // Some errors end the transaction by themselves.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      this.#reload();
    } catch (error) {
      this.#failure = this.#toFailure(error);
    }
  }

  #reload(): void {
    this.#writer.reload();
    this.#stale = false;
  }

  #toFailure(error: unknown) {
    return toFailure(error, 'nothing was written', this.#db.name);
  }
}
