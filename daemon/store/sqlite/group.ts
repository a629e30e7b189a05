import type Database from 'better-sqlite3';
import { cooperatively, TimeSlice, TurnBatch } from '../../concurrency.ts';
import { type ChangeResult, type Commit, type CommitRefusal, isCommitRefusal, StoreFailure } from '../commit.ts';
import { isOutage, toFailure } from './failure.ts';
import type { Writer, Written } from './writer.ts';

interface Job {
  readonly commit: Commit;
  readonly resolve: (results: readonly ChangeResult[]) => void;
  readonly reject: (error: Error) => void;
}

/** What happened to one commit of a transaction. */
type Settled =
  | { readonly job: Job; readonly results: readonly ChangeResult[] }
  | { readonly job: Job; readonly refusal: CommitRefusal };

/** Called after a transaction has committed and before the promises of its commits resolve. */
export type CommitListener = (written: Written) => void;

/** Number of changes after which a transaction takes no further commit: the first caller must not wait for all the others. */
const maxGroupChanges = 2000;

/**
 * Group commit: commits that arrive in one turn of the event loop, or while a transaction is running, share the next
 * transaction and its single fsync. With 64 clients this is eight times the throughput of one transaction per commit.
 */
export class GroupCommit {
  readonly #db: Database.Database;
  readonly #writer: Writer;
  readonly #listener: CommitListener;
  readonly #sliceMs: number | undefined;
  readonly #queue = new TurnBatch<Job>({ handle: jobs => this.#transaction(jobs), take: groupSize });
  #closed = false;
  /** The last error of the disk or the database; null after a transaction that succeeded. */
  #failure: StoreFailure | null = null;
  /** The writer still holds state that a rollback has undone: if the disk failed, reading the real state may have failed too. */
  #stale = false;

  /** `sliceMs`: see `TimeSlice`. */
  constructor(db: Database.Database, writer: Writer, listener: CommitListener, sliceMs?: number) {
    this.#db = db;
    this.#writer = writer;
    this.#listener = listener;
    this.#sliceMs = sliceMs;
  }

  get failure(): StoreFailure | null {
    return this.#failure;
  }

  get closed(): boolean {
    return this.#closed;
  }

  add(commit: Commit): Promise<readonly ChangeResult[]> {
    if (this.#closed) return Promise.reject(new StoreFailure('the store is closed'));
    return new Promise((resolve, reject) => this.#queue.add({ commit, resolve, reject }));
  }

  /** Accepts no more commits and resolves when all accepted ones are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle();
  }

  /** Tries a write that changes nothing, to find out whether writing works again. */
  probe(): void {
    if (this.#queue.busy) return;
    try {
      this.#db.exec(`BEGIN IMMEDIATE; INSERT INTO meta (name, value) VALUES ('probe', '0')
        ON CONFLICT DO UPDATE SET value = 1 - value; COMMIT`);
      this.#failure = null;
    } catch (error) {
      this.#rollback();
      this.#failure = this.#toFailure(error);
    }
  }

  async #transaction(jobs: readonly Job[]): Promise<void> {
    let settled: Settled[];
    let written: Written | null;
    try {
      if (this.#stale) this.#reload();
      this.#db.exec('BEGIN IMMEDIATE');
      settled = await cooperatively(this.#applyAll(jobs), { slice: new TimeSlice(this.#sliceMs), stride: 16 });
      written = this.#writer.finish();
      this.#db.exec('COMMIT');
    } catch (error) {
      await this.#failed(jobs, error);
      return;
    }
    if (written) {
      this.#failure = null;
      this.#listener(written);
    }
    for (const one of settled) {
      if ('refusal' in one) one.job.reject(one.refusal);
      else one.job.resolve(one.results);
    }
  }

  *#applyAll(jobs: readonly Job[]): Generator<void, Settled[]> {
    const settled: Settled[] = [];
    for (const job of jobs) {
      try {
        settled.push({ job, results: yield* this.#writer.apply(job.commit) });
      } catch (error) {
        if (!isCommitRefusal(error)) throw error;
        settled.push({ job, refusal: error });
      }
      yield;
    }
    return settled;
  }

  /** A commit that fails must not undo the others: each is tried again on its own. */
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

function groupSize(waiting: readonly Job[]): number {
  let changes = 0;
  let size = 0;
  while (size < waiting.length && changes < maxGroupChanges) changes += waiting[size++]!.commit.changes.length;
  return size;
}
