/** Commits: changes, their guards and results, and why a commit is refused or fails. */
import type { DeviceStatus } from '../../src/contract/values.ts';
import type { DocumentGuard, DocumentSet } from './document.ts';
import type { JournalAdd, JournalRotate } from './journal.ts';

/** The changes of each subject: its folder adds them here. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectChanges {}
/** The guards of each subject. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectGuards {}
/** Who makes commits, by the subject that knows them. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectCallers {}
/** Results of the changes of each subject, beside what all can. */
// biome-ignore lint/suspicious/noEmptyInterface: subjects add to it
export interface SubjectResults {}

/** Everything that can be written. `createdAt` of a new record is the commit's `at`. */
export type Change = SubjectChanges[keyof SubjectChanges] | DocumentSet | JournalAdd | JournalRotate | ResponseExpire;

/** A condition that must still hold at the moment of the commit. */
export type Guard = SubjectGuards[keyof SubjectGuards] | DocumentGuard;

/** One for each change, in order. */
export type ChangeResult =
  /**
   * `at` is present if the store has raised the time of the commit: it is the time of the new record. `version`: of the device that the
   * new record has changed.
   */
  | { readonly kind: 'added'; readonly number: number; readonly at?: number; readonly version?: number }
  /** The record that conflicts; nothing was written. `status` is that of a device, else null. */
  | { readonly kind: 'duplicate'; readonly number: number; readonly status: DeviceStatus | null }
  | SubjectResults[keyof SubjectResults]
  /** How many records were removed. */
  | { readonly kind: 'removed'; readonly count: number }
  | { readonly kind: 'done' };

/** A response that was stored for an idempotency key. */
export interface StoredResponse {
  /** The digest of the request that it answers. */
  readonly digest: string;
  /** HTTP status. */
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * The response to a request with an idempotency key. It is stored in the transaction of the commit. Responses are a cache, not a
 * part of the registry: they have no journal entries.
 */
export interface ResponsePart {
  /** Identifies the holder and the key. At most one response that has not expired has this id. */
  readonly id: string;
  /** Whose response it is: see `maxTotal`. */
  readonly holder: string;
  readonly digest: string;
  readonly expiresAt: number;
  /** Bytes of all large responses of the holder together. If this one exceeds them, the holder's oldest large ones are removed. */
  readonly maxTotal: number;
  /** Called inside the transaction, again if the transaction is tried again. Null: nothing is stored. An error fails the commit. */
  readonly make: (results: readonly ChangeResult[]) => Omit<StoredResponse, 'digest'> | null;
}

/** Bytes from which on a stored response is large. */
export const LARGE_RESPONSE = 4096;

/** Removes expired responses, at most `most` of them. Writes no journal entry. */
export interface ResponseExpire {
  readonly kind: 'response.expire';
  /** Responses that expire at this time or earlier are removed. */
  readonly until: number;
  /** Responses that expire later than this are removed too: they were stored while the clock was wrong. */
  readonly beyond: number;
  readonly most: number;
}

/** Changes that are applied together or not at all. */
export interface Commit {
  /**
   * The time of every change in the commit. A store with several handles raises it to that of the last commit, because their
   * clocks differ: there, times ascend in the order of the commits.
   */
  readonly at: number;
  /** Name of the user or service token who makes the changes; null if the daemon does. */
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly changes: readonly Change[];
  readonly guards?: readonly Guard[] | undefined;
  /**
   * The caller that the commit is made for; absent if the daemon makes it. A caller that has lost its rights is refused with
   * `CallerRefused`.
   */
  readonly caller?: SubjectCallers[keyof SubjectCallers] | undefined;
  /** Present if the commit carries out a request with an idempotency key. */
  readonly response?: ResponsePart | undefined;
}

/** A guard did not hold, or a record to change does not exist. Nothing of the commit was written: read and decide again. */
export class Conflict extends Error {
  override name = 'Conflict';
  constructor(what: string) {
    super(`conflict: ${what}`);
  }
}

/** The caller of a commit has lost the right to make it. Nothing of the commit was written, and a retry would fail too. */
export class CallerRefused extends Error {
  override name = 'CallerRefused';
  readonly lost: 'revoked' | 'role';
  constructor(lost: 'revoked' | 'role') {
    super(lost === 'revoked' ? 'the token of the caller was revoked' : 'the caller has another role now');
    this.lost = lost;
  }
}

/**
 * A response with the id of the commit's `response` is stored already and has not expired at the time of the commit. Nothing of the
 * commit was written.
 */
export class ResponseExists extends Error {
  override name = 'ResponseExists';
  constructor() {
    super('a response is stored for this idempotency key');
  }
}

/** Why a store refuses one commit and continues with the others of the same transaction. */
export type CommitRefusal = Conflict | CallerRefused | ResponseExists;

/** Whether the store refused a commit because of its content. Anything else is a failure of the store. */
export const isCommitRefusal = (error: unknown): error is CommitRefusal =>
  error instanceof Conflict || error instanceof CallerRefused || error instanceof ResponseExists;

/** The store cannot work (disk full, damaged, closed). Nothing of the commit was written. `message` is for the log. */
export class StoreFailure extends Error {
  override name = 'StoreFailure';
}

/**
 * The server of the store does not answer, or must not be used now: another daemon, or a later request, may succeed. Nothing of the
 * commit was written, except after `OutcomeUnknown`.
 */
export class StoreUnavailable extends StoreFailure {
  override name = 'StoreUnavailable';
}

/**
 * The commit was sent, and the store does not answer: whether it was written is unknown, and readers may see either outcome. Do not
 * undo the work around it: a file that the commit may name must stay.
 */
export class OutcomeUnknown extends StoreUnavailable {
  override name = 'OutcomeUnknown';
}
