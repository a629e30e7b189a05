/** Group commit: commits that arrive while a transaction is running share the next one, and its two round trips. */
import { cooperatively, TimeSlice, TurnBatch } from '../../concurrency.ts';
import {
  type ChangeResult,
  type Commit,
  type CommitRefusal,
  isCommitRefusal,
  StoreFailure,
  StoreUnavailable,
} from '../commit.ts';
import type { JournalEnd } from '../journal-end.ts';
import type { CommitNotice } from '../store.ts';
import { applyCommit } from './changes.ts';
import type { Draft } from './draft.ts';
import { toFailure } from './failure.ts';
import { Loading } from './load.ts';
import { type Patience, wasWritten } from './outcome.ts';
import type { Primary } from './primary.ts';
import type { Session } from './session.ts';
import { abandon, begin, finish, NoAnswer, NotWritten, UnknownSeal, Unstorable } from './transaction.ts';

interface Job {
  readonly commit: Commit;
  readonly resolve: (results: readonly ChangeResult[]) => void;
  readonly reject: (error: Error) => void;
}

/** What happened to one commit of a transaction. */
type Settled =
  | { readonly job: Job; readonly results: readonly ChangeResult[] }
  | { readonly job: Job; readonly refusal: CommitRefusal };

/** A transaction that was committed. */
export interface Committed {
  readonly notice: CommitNotice;
  /** Id of the last entry before it. */
  readonly after: number;
  /** Number of devices it has added, and how many there are. */
  readonly addedDevices: number;
  readonly devices: number;
}

/** What the group works with. */
export interface GroupParts {
  /** The session for writing, checked: a new one if the last one has failed. */
  readonly session: () => Promise<Session>;
  readonly end: JournalEnd;
  readonly primary: Primary;
  /** Reads the keys of the journal again. Resolves with whether there is a new one. */
  readonly learnKeys: () => Promise<boolean>;
  /** Called after a transaction has committed and before the promises of its commits resolve. */
  readonly committed: (committed: Committed) => void;
  readonly patience: Patience;
}

/** Number of changes after which a transaction takes no further commit: the first caller must not wait for all the others. */
const maxGroupChanges = 2000;
/** A transaction whose connection fails before COMMIT is tried this often. */
const attempts = 2;

export class Group {
  readonly #parts: GroupParts;
  readonly #queue = new TurnBatch<Job>({ handle: jobs => this.#transaction(jobs, attempts), take: groupSize });
  #closed = false;
  /** Lets the commits that wait join the transaction that waits for the lock; null if none does. */
  #join: (() => void) | null = null;
  #joining = false;
  /** Why the last transaction failed, if that was no fault of its commits. */
  #failure: StoreFailure | null = null;

  constructor(parts: GroupParts) {
    this.#parts = parts;
  }

  get failure(): StoreFailure | null {
    return this.#failure;
  }

  get closed(): boolean {
    return this.#closed;
  }

  add(commit: Commit): Promise<readonly ChangeResult[]> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the store is closed'));
    if (this.#join) this.#joinLater();
    return new Promise((resolve, reject) => this.#queue.add({ commit, resolve, reject }));
  }

  /** At the end of this turn of the event loop: what arrives together joins together. */
  #joinLater(): void {
    if (this.#joining) return;
    this.#joining = true;
    setImmediate(() => {
      this.#joining = false;
      this.#join?.();
    });
  }

  /** Accepts no more commits and resolves when all accepted ones are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle();
  }

  async #transaction(jobs: Job[], left: number, isOpen = true): Promise<void> {
    let settled: Settled[];
    try {
      settled = await this.#attempt(jobs, isOpen);
      this.#failure = null;
    } catch (error) {
      await this.#failed(jobs, error, left - 1, isOpen);
      return;
    }
    for (const one of settled) {
      if ('refusal' in one) one.job.reject(one.refusal);
      else one.job.resolve(one.results);
    }
  }

  /**
   * If the jobs are open, commits that arrive while another daemon holds the lock join them: groups are larger, and the lock changes
   * hands less often.
   */
  async #attempt(jobs: Job[], isOpen: boolean): Promise<Settled[]> {
    const { end, primary } = this.#parts;
    const session = await this.#parts.session();
    try {
      const loading = new Loading(session);
      if (isOpen) this.#join = () => session.together(() => loading.send(commitsOf(this.#takeInto(jobs))));
      const { draft, head } = await begin({ session, commits: commitsOf(jobs), loading, end, primary }, () => {
        this.#join = null;
      });
      const settled = await cooperatively(applyAll(jobs, draft), { slice: new TimeSlice(), stride: 16 });
      if (draft.isEmpty) await abandon(session);
      else await this.#finish(session, draft, head.event);
      return settled;
    } catch (error) {
      // Whatever it was: the transaction must not stay open.
      if (error instanceof NoAnswer) session.destroy();
      else if (session.alive) await abandon(session);
      throw error;
    }
  }

  /** Moves the commits that wait to the jobs, unless these are many. Returns them. */
  #takeInto(jobs: Job[]): Job[] {
    if (changesOf(jobs) >= maxGroupChanges) return [];
    const joined = this.#queue.takeWaiting();
    jobs.push(...joined);
    return joined;
  }

  async #finish(session: Session, draft: Draft, after: number): Promise<void> {
    const { primary, committed } = this.#parts;
    const end = await finish(session, draft).catch(error => this.#afterNoAnswer(session, draft, error));
    primary.knows(end);
    const notice = { lastEventId: end.id, users: [...draft.changedUsers], serviceTokens: [...draft.changedTokens] };
    const addedDevices = draft.devices.added.length;
    committed({ notice, after, addedDevices, devices: draft.head().device });
  }

  /** Resolves with the end of the journal if the commit was written after all. */
  async #afterNoAnswer(session: Session, draft: Draft, error: unknown) {
    const mark = draft.events.at(-1);
    // What has no entry can be written again: it stays the same.
    if (!(error instanceof NoAnswer) || !mark)
      throw error instanceof NoAnswer ? new NotWritten(error.cause ?? error) : error;
    session.destroy();
    if (await wasWritten(this.#parts.session, mark, this.#parts.patience)) return { id: mark.id, mac: mark.mac };
    throw new NotWritten(error.cause ?? error);
  }

  /** A file that cannot be read leaves the node without the key: the commit says so. */
  #learns(): Promise<boolean> {
    return this.#parts.learnKeys().catch(() => false);
  }

  async #failed(jobs: Job[], error: unknown, left: number, isOpen: boolean): Promise<void> {
    if (error instanceof UnknownSeal && (await this.#learns())) {
      await this.#transaction(jobs, attempts, isOpen);
      return;
    }
    const isOutage = error instanceof StoreFailure || (error instanceof NotWritten && error.isOutage);
    if (error instanceof NotWritten && isOutage && left > 0) {
      await this.#transaction(jobs, left, isOpen);
      return;
    }
    // A commit that cannot be stored must not undo the others: each is tried on its own, and none joins it.
    if (!isOutage && jobs.length > 1) {
      for (const job of jobs) await this.#transaction([job], attempts, false);
      return;
    }
    const cause = error instanceof NotWritten || error instanceof Unstorable ? error.cause : error;
    const failure = toFailure(cause, 'nothing was written');
    if (isOutage) this.#failure = failure;
    for (const { reject } of jobs) reject(failure);
  }
}

function* applyAll(jobs: readonly Job[], draft: Draft): Generator<void, Settled[]> {
  const settled: Settled[] = [];
  for (const job of jobs) {
    try {
      settled.push({ job, results: yield* applyCommit(draft, job.commit) });
    } catch (error) {
      if (!isCommitRefusal(error)) throw new Unstorable(error);
      settled.push({ job, refusal: error });
    }
    yield;
  }
  return settled;
}

const commitsOf = (jobs: readonly Job[]) => jobs.map(({ commit }) => commit);
const changesOf = (jobs: readonly Job[]) => jobs.reduce((sum, { commit }) => sum + commit.changes.length, 0);

function groupSize(waiting: readonly Job[]): number {
  let changes = 0;
  let size = 0;
  while (size < waiting.length && changes < maxGroupChanges) changes += waiting[size++]!.commit.changes.length;
  return size;
}
