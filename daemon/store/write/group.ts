/** Group commit: commits that arrive in one turn of the event loop, or while a transaction is running, share the next one. */
import { cooperatively, TimeSlice, TurnBatch } from '../../base/concurrency.ts';
import { type ChangeResult, type Commit, type CommitRefusal, isCommitRefusal, type StoreFailure } from '../commit.ts';
import type { Subjects } from '../subjects.ts';
import { applyCommit } from './apply.ts';
import type { Draft } from './draft.ts';

interface Job {
  readonly commit: Commit;
  readonly resolve: (results: readonly ChangeResult[]) => void;
  readonly reject: (error: Error) => void;
}

/** The outcome of one commit of a transaction. */
type SettledCommit =
  | { readonly job: Job; readonly results: readonly ChangeResult[] }
  | { readonly job: Job; readonly refusal: CommitRefusal };

/** Consequences of a transaction that failed. */
export interface FailedTransaction {
  /** The error that the commits are rejected with. */
  readonly failure: StoreFailure;
  /** Whether the failure was not caused by the commits. */
  readonly isOutage: boolean;
  /** Whether each of the commits would fail on its own too; if not, each is tried on its own, so that it does not undo the others. */
  readonly isShared: boolean;
}

/** How an engine carries out transactions, one at a time. */
export interface Engine {
  /**
   * Carries out the commits of the batch. Resolves when they are durable and listeners have learned of them, with whether anything was
   * written. If it rejects, nothing was written, or `OutcomeUnknown` reports that it may have been.
   */
  transaction(batch: Batch): Promise<boolean>;
  failed(error: unknown): FailedTransaction;
  /** The error of commits after `close`. */
  closed(): StoreFailure;
}

/** Number of changes after which a transaction takes no further commit: the first caller must not wait for all the others. */
const maxGroupChanges = 2000;

/** A commit cannot be applied, and was not refused either. */
export class Unstorable extends Error {
  override name = 'Unstorable';
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The commits of one transaction. */
export class Batch {
  readonly #jobs: Job[];
  readonly #group: GroupCommit;
  readonly #isOpen: boolean;
  #settled: readonly SettledCommit[] = [];

  constructor(jobs: Job[], group: GroupCommit, isOpen: boolean) {
    this.#jobs = jobs;
    this.#group = group;
    this.#isOpen = isOpen;
  }

  get commits(): readonly Commit[] {
    return this.#jobs.map(({ commit }) => commit);
  }

  /** The number of its changes. */
  get size(): number {
    return this.#jobs.reduce((sum, { commit }) => sum + commit.changes.length, 0);
  }

  /**
   * Until `close`, commits that arrive join the batch, those of one turn of the event loop together; `joined` gets them. Not those of a
   * batch whose only commit may have failed before.
   */
  open(joined: (commits: readonly Commit[]) => void): void {
    if (this.#isOpen) this.#group.joining = () => joined(this.#takeWaiting());
  }

  close(): void {
    this.#group.joining = null;
  }

  /** Applies the commits to a draft, in time slices. Rejects with `Unstorable`. */
  async apply(draft: Draft): Promise<void> {
    const slice = new TimeSlice(this.#group.sliceMs);
    this.#settled = await cooperatively(applyAll(this.#group.subjects, this.#jobs, draft), { slice, stride: 16 });
  }

  /** Resolves or rejects the promises of the commits. */
  settle(): void {
    for (const one of this.#settled) {
      if ('refusal' in one) one.job.reject(one.refusal);
      else one.job.resolve(one.results);
    }
  }

  #takeWaiting(): readonly Commit[] {
    if (this.size >= maxGroupChanges) return [];
    const joined = this.#group.takeWaiting();
    this.#jobs.push(...joined);
    return joined.map(({ commit }) => commit);
  }
}

export class GroupCommit {
  /** Lets the commits that wait join the running transaction; null if it takes none. */
  joining: (() => void) | null = null;
  /** Option of `TimeSlice`. */
  readonly sliceMs: number | undefined;
  readonly subjects: Subjects;
  readonly #engine: Engine;
  readonly #queue = new TurnBatch<Job>({ handle: jobs => this.#transaction(jobs), take: groupSize });
  #isJoining = false;
  #isClosed = false;
  #failure: StoreFailure | null = null;

  constructor(subjects: Subjects, engine: Engine, sliceMs?: number) {
    this.subjects = subjects;
    this.#engine = engine;
    this.sliceMs = sliceMs;
  }

  /** Why the last transaction failed, if its commits did not cause that. */
  get failure(): StoreFailure | null {
    return this.#failure;
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  get busy(): boolean {
    return this.#queue.busy;
  }

  add(commit: Commit): Promise<readonly ChangeResult[]> {
    if (this.#isClosed) return Promise.reject(this.#engine.closed());
    if (this.joining && !this.#isJoining) {
      this.#isJoining = true;
      setImmediate(() => {
        this.#isJoining = false;
        this.joining?.();
      });
    }
    return new Promise((resolve, reject) => this.#queue.add({ commit, resolve, reject }));
  }

  /** Takes commits that wait for the next transaction. */
  takeWaiting(): readonly Job[] {
    return this.#queue.takeWaiting();
  }

  /** Accepts no more commits and resolves when all accepted ones are settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue.idle();
  }

  /** Notes whether writing works, as another attempt than a commit has shown. */
  noteProbe(failure: StoreFailure | null): void {
    this.#failure = failure;
  }

  async #transaction(jobs: Job[], isOpen = true): Promise<void> {
    const batch = new Batch(jobs, this, isOpen);
    try {
      if (await this.#engine.transaction(batch)) this.#failure = null;
      batch.settle();
    } catch (error) {
      await this.#failed(jobs, this.#engine.failed(error));
    }
  }

  async #failed(jobs: Job[], { failure, isOutage, isShared }: FailedTransaction): Promise<void> {
    if (!isShared && jobs.length > 1) {
      for (const job of jobs) await this.#transaction([job], false);
      return;
    }
    if (isOutage) this.#failure = failure;
    for (const { reject } of jobs) reject(failure);
  }
}

function* applyAll(subjects: Subjects, jobs: readonly Job[], draft: Draft): Generator<void, SettledCommit[]> {
  const settled: SettledCommit[] = [];
  for (const job of jobs) {
    try {
      settled.push({ job, results: yield* applyCommit(subjects, draft, job.commit) });
    } catch (error) {
      if (!isCommitRefusal(error)) throw new Unstorable(error);
      settled.push({ job, refusal: error });
    }
    yield;
  }
  return settled;
}

function groupSize(waiting: readonly Job[]): number {
  let changes = 0;
  let size = 0;
  while (size < waiting.length && changes < maxGroupChanges) changes += waiting[size++]!.commit.changes.length;
  return size;
}
