/**
 * The interface of a store to the daemon. Reads are asynchronous. The only way to write is `commit`: it applies its changes and
 * their journal entries together or not at all, and refuses if a guard no longer holds. Any store that passes
 * `tests/contract/store.ts` will do. Times are milliseconds since 1970 (UTC).
 *
 * Several handles, in one process or in many, may have the same store open if the engine supports it: PostgreSQL does, SQLite
 * does not. What a commit promises then holds across all of them: ids and numbers without gaps in the order of the commits,
 * guards, totals, and readers that see a commit as soon as it was acknowledged. Two things are up to the callers. A listener
 * learns of the commits of other handles after they were acknowledged there (see `onCommit`): what is kept from one read for the
 * next may be used only while `behind` is small. And the guards of a commit must hold everything that its decision follows from:
 * `KeyedMutex` orders decisions in one process, not between processes.
 */

import type { ChangeResult, Commit, StoredResponse } from './commit.ts';
import type { DocumentName, DocumentRecord } from './document.ts';
import type { EventRecord } from './journal.ts';
import type { EventFilter, JournalHead } from './queries.ts';
import type { SharedState } from './short-lived.ts';

/** The reads of each subject: its folder adds them here. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectReads {}
/** Operations of an open store beside reads and commits: subjects add to it. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectStreams {}

/** The reads of a registry. A record that does not exist is null. All reject with `StoreFailure`. */
export interface Reader extends SubjectReads {
  document(name: DocumentName): Promise<DocumentRecord | null>;
  /** The version of a document; 0 if it does not exist. */
  documentVersion(name: DocumentName): Promise<number>;
  /** In the order of the journal, or in reverse if the filter has `before`. Without what a failover can undo. */
  events(filter: EventFilter): Promise<readonly EventRecord[]>;
  /** Id of the last entry; 0 if there is none. */
  lastEventId(): Promise<number>;
  /** The head of the journal, or as it was after entry `id`; null if the journal is empty or has no such entry. */
  journalHead(id?: number): Promise<JournalHead | null>;
  /** The response with this id that has not expired at the time `at`. */
  response(id: string, at: number): Promise<StoredResponse | null>;
}

/** The notice that listeners get of committed changes. */
export interface CommitNotice {
  readonly lastEventId: number;
  /** Numbers of the users that were changed or added. */
  readonly users: readonly number[];
  /** Numbers of the service tokens that were added or revoked, or that have another owner. */
  readonly serviceTokens: readonly number[];
  /**
   * Any user and any token may have changed: the store has another server, which may lack changes that the last one has shown, or
   * the sessions of single sign-on have ended.
   */
  readonly everything?: boolean;
}

/** Work that one of several handles does until it releases or loses it. */
export interface HeldWork {
  /** Aborted when another handle may take the work: the connection has failed. */
  readonly lost: AbortSignal;
  /** Lets another handle take the work. Idempotent. */
  release(): Promise<void>;
}

/** Work of a registry that one handle at a time does, and notes about it that all handles share. All reject with `StoreFailure`. */
export interface SharedWork {
  /** How many handles use the registry, this one included. */
  users(): Promise<number>;
  /** Takes the work; null if another handle has it. */
  take(work: string): Promise<HeldWork | null>;
  /** The text of a note; null if it does not exist. */
  note(name: string): Promise<string | null>;
  /** Replaces a note that is still `before`, or creates it if that is null. Resolves with whether it did. */
  replaceNote(name: string, before: string | null, text: string): Promise<boolean>;
}

/** A user name of devices that was erased, by its key, and what devices show in its place. */
export interface ErasedName {
  readonly userKey: string;
  readonly userId: string;
}

/** Milliseconds of `behind` up to which what was read before may be used instead of a read. */
export const maxBehindMs = 1000;

/** A registry opened for reading and writing. */
export interface Store extends Reader, SubjectStreams {
  /**
   * Resolves when everything is on disk. Commits that arrive together may share one transaction; one that is refused
   * does not undo the others. Rejects with a `CommitRefusal` or `StoreFailure`; then nothing of the commit was written, except that
   * after `OutcomeUnknown` all of it may have been.
   */
  commit(commit: Commit): Promise<readonly ChangeResult[]>;
  /**
   * Calls the listener after each commit of this handle, before the promise of the commit resolves, and after commits of other
   * handles, as soon as the store learns of them: a store with several handles looks four times a second, and after hints of the
   * others. One call may report several commits, and a call may repeat an earlier one. Users and tokens are named as soon as their
   * change is visible; `lastEventId` is that of an entry that no failover can undo. Returns the function that stops this.
   */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Absent if the store has one handle at a time: then that in memory does. */
  readonly shortLived?: SharedState;
  /** Absent if the store has one handle at a time. */
  readonly sharedWork?: SharedWork;
  /**
   * Milliseconds by which listeners may be behind: of every commit that another handle made before that, they have learned. Always 0
   * for a store that has no other handles. Grows while the server does not answer.
   */
  behind(): number;
  /**
   * Whether the clock of this process was off that of the store at the last look, which needs no request: writes are refused then. Absent
   * if the store has no clock of its own.
   */
  clockIsOff?(): boolean;
  /**
   * Rewrites the rows and indexes of a registry, so that deleted values are in no free page, and the log of SQLite; also removes a
   * name of devices from tables that only the engine knows. Writes wait until it has ended. Rejects with `StoreFailure`; can be repeated.
   */
  eraseFreeSpace(erased: readonly ErasedName[]): Promise<void>;
  /** Whether writes can be expected to succeed. `detail` may be shown to anyone; `error` is for the log. */
  health(): Promise<{ readonly ready: boolean; readonly detail: string; readonly error?: unknown }>;
  /** Waits for running commits, then closes the store. Idempotent. */
  close(): Promise<void>;
}
