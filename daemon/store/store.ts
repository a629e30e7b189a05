/**
 * What the daemon asks of a store. Reads are asynchronous. The only way to write is `commit`: it applies its changes and
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

import type { Tag } from '../../src/contract/tags.ts';
import type { DeviceSort, DeviceStatus, DeviceType, Platform } from '../../src/contract/values.ts';
import type { AppChange, AppRecord } from '../domain/app.ts';
import type { BackupChange, BackupRecord } from '../domain/backup.ts';
import type { CallerGuard, LostRight } from '../domain/caller.ts';
import type { DeviceChange, DeviceGuard, DeviceIdentity, DeviceRecord, DeviceRow } from '../domain/device.ts';
import type { DocumentGuard, DocumentName, DocumentRecord, DocumentSet } from '../domain/document.ts';
import type { EntryType, EventRecord, JournalAdd, JournalRotate } from '../domain/journal.ts';
import type { LatestProof, ProofChange, ProofFilter, ProofRecord } from '../domain/proof.ts';
import type { ServiceTokenRecord, TokenChange } from '../domain/service-token.ts';
import type { UserChange, UserGuard, UserRecord } from '../domain/user.ts';
import type { SharedCounters } from './counters.ts';

/** Everything that can be written. `createdAt` of a new record is the commit's `at`. */
export type Change =
  | DeviceChange
  | UserChange
  | AppChange
  | BackupChange
  | TokenChange
  | ProofChange
  | DocumentSet
  | JournalAdd
  | JournalRotate
  | ResponseExpire;

/** A condition that must still hold at the moment of the commit. */
export type Guard = DeviceGuard | UserGuard | DocumentGuard;

/** One for each change, in order. */
export type ChangeResult =
  /** `at` is present if the store has raised the time of the commit: it is the time of the new record. */
  | { readonly kind: 'added'; readonly number: number; readonly at?: number }
  /** The record that was in the way; nothing was written. `status` is that of a device, else null. */
  | { readonly kind: 'duplicate'; readonly number: number; readonly status: DeviceStatus | null }
  /** `at`: see above. */
  | { readonly kind: 'used'; readonly usageCount: number; readonly usageSeconds: number; readonly at?: number }
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
  /** So are those that expire later than this: they were stored while the clock was wrong. */
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
  readonly guards?: readonly Guard[];
  /** Whom the commit is made for; absent if the daemon makes it. Refused with `CallerRefused` if this no longer holds. */
  readonly caller?: CallerGuard;
  /** Present if the commit carries out a request with an idempotency key. */
  readonly response?: ResponsePart;
}

/** A guard did not hold, or a record to change does not exist. Nothing of the commit was written: read and decide again. */
export class Conflict extends Error {
  constructor(what: string) {
    super(`conflict: ${what}`);
    this.name = 'Conflict';
  }
}

/** The caller of a commit has lost the right to make it. Nothing of the commit was written, and trying again is of no use. */
export class CallerRefused extends Error {
  readonly lost: LostRight;
  constructor(lost: LostRight) {
    super(lost === 'revoked' ? 'the token of the caller was revoked' : 'the caller has another role now');
    this.name = 'CallerRefused';
    this.lost = lost;
  }
}

/**
 * A response with the id of the commit's `response` is stored already and has not expired at the time of the commit. Nothing of the
 * commit was written.
 */
export class ResponseExists extends Error {
  constructor() {
    super('a response is stored for this idempotency key');
    this.name = 'ResponseExists';
  }
}

/** Why a store refuses one commit, while others of the same transaction go on. */
export type CommitRefusal = Conflict | CallerRefused | ResponseExists;

/** Whether a commit was refused by itself. Anything else is a failure of the store. */
export const isCommitRefusal = (error: unknown): error is CommitRefusal =>
  error instanceof Conflict || error instanceof CallerRefused || error instanceof ResponseExists;

/** The store cannot work (disk full, damaged, closed). Nothing of the commit was written. `message` is for the log. */
export class StoreFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreFailure';
  }
}

/**
 * The server of the store does not answer, or must not be used now: another daemon, or a later request, may succeed. Nothing of the
 * commit was written, except after `OutcomeUnknown`.
 */
export class StoreUnavailable extends StoreFailure {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/**
 * The store does not answer, and the commit was sent: whether it was written is not known. A reader may find either. Do not
 * undo by hand what it was for: a file that the commit may name must stay.
 */
export class OutcomeUnknown extends StoreUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutcomeUnknown';
  }
}

/** Devices match if they match every field that is given. */
export interface DeviceFilter extends ProofFilter {
  /** One of these. */
  readonly deviceType?: readonly DeviceType[] | undefined;
  /** One of these. */
  readonly status?: readonly DeviceStatus[] | undefined;
  readonly manufacturer?: string | undefined;
  readonly userId?: string | undefined;
  /** The whole serial number. */
  readonly serialNumber?: string | undefined;
  /** Registered at this time or later. */
  readonly createdFrom?: number | undefined;
  /** Registered earlier. */
  readonly createdTo?: number | undefined;
  /** Last used earlier, or never used and activated earlier. */
  readonly lastUsedBefore?: number | undefined;
  /** The activation code expires earlier. */
  readonly codeExpiresBefore?: number | undefined;
  /** The device has every one of these. Each at most once, at most 16. */
  readonly tags?: readonly Tag[] | undefined;
  /** Substring of `DEV-n` or of the serial number; ASCII letters match in upper and lower case. */
  readonly keyword?: string | undefined;
}

/** A part of a sorted list. */
export interface Window {
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** A part of the sorted list of matching devices. */
export interface DeviceQuery extends DeviceFilter, Window {
  /**
   * Nulls come last in both directions; ties are sorted by number in the same direction. `deviceId` sorts as a number, texts by
   * their code points.
   */
  readonly sortBy: DeviceSort;
}

/** What a scan of devices needs beside its rows. */
export interface ScanOptions {
  /**
   * Called once, before the first batch, with the names of all tags that the matching devices have, sorted and as of the same
   * moment; at most `limit + 1` of them.
   */
  readonly tagNames?: { readonly limit: number; readonly found: (names: readonly string[]) => void } | undefined;
}

/** The rows of a window. */
export interface Rows<T> {
  readonly rows: readonly T[];
  /** Number of rows in the whole list. */
  readonly total: number;
}

/** The times that statistics are counted by, in milliseconds since 1970. */
export interface StatisticsQuery {
  /** Hours from this one on are counted; a whole hour. */
  readonly since: number;
  /** Codes of INACTIVE devices that expire after the first time and not after the second are counted. */
  readonly codesExpireAfter: number;
  readonly codesExpireBy: number;
  /** ACTIVE devices that were last used, or if never used activated, before this time are counted. */
  readonly unusedSince: number;
}

/** Counts of devices, all of one moment. */
export interface DeviceStatistics {
  /** For each combination of type, state and manufacturer that devices have. */
  readonly counts: readonly {
    readonly deviceType: DeviceType;
    readonly status: DeviceStatus;
    readonly manufacturer: string;
    readonly count: number;
  }[];
  /** Number of registrations by hour: its start in milliseconds since 1970. Hours without one are left out. */
  readonly registrations: ReadonlyMap<number, number>;
  readonly codesExpiring: number;
  readonly unused: number;
}

/** Entries match if they match every field that is given. */
export interface EventFilter {
  /** Only entries with higher ids. */
  readonly after: number;
  /** Only entries with lower ids, and the highest ids first; if absent, the lowest ids come first. */
  readonly before?: number | undefined;
  /** Only entries up to this id. */
  readonly through?: number | undefined;
  readonly limit: number;
  readonly types?: readonly EntryType[] | undefined;
  /** Number of the device. */
  readonly device?: number | undefined;
  /** Name of the user. */
  readonly actor?: string | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Inclusive. */
  readonly to?: number | undefined;
}

/** Where the journal ends: the id of its last entry, and the code that authenticates it and all entries before it. */
export interface JournalHead {
  readonly id: number;
  readonly mac: string;
}

/** A head that was kept elsewhere: the journal must contain it. */
export interface JournalAnchor extends JournalHead {
  /** What it is called in a report. */
  readonly source: string;
}

/** The reads of a registry. A record that does not exist is null. All reject with `StoreFailure`. */
export interface Reader {
  device(number: number): Promise<DeviceRecord | null>;
  /** The registered ones among the serial numbers. */
  devicesBySerial(serials: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>>;
  devices(query: DeviceQuery): Promise<Rows<DeviceRow>>;
  statistics(query: StatisticsQuery): Promise<DeviceStatistics>;
  user(number: number): Promise<UserRecord | null>;
  userByName(username: string): Promise<UserRecord | null>;
  /** In order of creation. */
  users(window: Window): Promise<Rows<UserRecord>>;
  /** Enabled users with the role ADMIN. */
  admins(): Promise<readonly UserRecord[]>;
  serviceToken(number: number): Promise<ServiceTokenRecord | null>;
  /** The token whose text has this SHA-256 (lower-case hex). */
  serviceTokenByDigest(sha256: string): Promise<ServiceTokenRecord | null>;
  /** In order of creation, including expired and revoked ones. */
  serviceTokens(window: Window): Promise<Rows<ServiceTokenRecord>>;
  /** The answer to this challenge. */
  proof(proofId: string): Promise<ProofRecord | null>;
  /** For each of the serial numbers with answers the last one with evidence, or if none has evidence the last one. */
  latestProofs(serials: readonly string[]): Promise<ReadonlyMap<string, LatestProof>>;
  /** Whether an answer to another challenge has this digest. */
  hasEvidence(evidenceDigest: string, besides: string): Promise<boolean>;
  document(name: DocumentName): Promise<DocumentRecord | null>;
  /** The version of a document; 0 if it does not exist. */
  documentVersion(name: DocumentName): Promise<number>;
  app(number: number): Promise<AppRecord | null>;
  /** In order of creation. */
  apps(window: Window & { readonly platform?: Platform | undefined }): Promise<Rows<AppRecord>>;
  /** All versions for a platform, the latest upload last. */
  appsOf(platform: Platform): Promise<readonly AppRecord[]>;
  backup(number: number): Promise<BackupRecord | null>;
  /** In order of creation. */
  backups(device: number, window: Window): Promise<Rows<BackupRecord>>;
  /** In the order of the journal, or in reverse if the filter has `before`. Without what a failover can undo. */
  events(filter: EventFilter): Promise<readonly EventRecord[]>;
  /** Id of the last entry; 0 if there is none. */
  lastEventId(): Promise<number>;
  /** The head of the journal, or as it was after entry `id`; null if the journal is empty or has no such entry. */
  journalHead(id?: number): Promise<JournalHead | null>;
  /** The response with this id that has not expired at the time `at`. */
  response(id: string, at: number): Promise<StoredResponse | null>;
  /** The ones among `names` that records refer to. */
  knownBlobs(names: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What listeners learn about committed changes. */
export interface CommitNotice {
  readonly lastEventId: number;
  /** Numbers of the users that were changed or added. */
  readonly users: readonly number[];
  /** Numbers of the service tokens that were added or revoked. */
  readonly serviceTokens: readonly number[];
  /** Any user and any token may differ from what was read before: the store has another server, which may lack what the last one has shown. */
  readonly everything?: boolean;
}

/** Work that one of several handles does, until it ends it or loses it. */
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
  /** The text of a note; null if there is none. */
  note(name: string): Promise<string | null>;
  /** Replaces a note that is still `before`, or creates it if that is null. Resolves with whether it did. */
  replaceNote(name: string, before: string | null, text: string): Promise<boolean>;
}

/** Milliseconds of `behind` up to which what was read before may be used instead of a read. */
export const maxBehindMs = 1000;

/** A registry opened for reading and writing. */
export interface Store extends Reader {
  /**
   * Resolves when everything is on disk. Commits that arrive together may share one transaction; one that is refused
   * does not undo the others. Rejects with a `CommitRefusal` or `StoreFailure`; then nothing of the commit was written, except that
   * after `OutcomeUnknown` all of it may have been.
   */
  commit(commit: Commit): Promise<readonly ChangeResult[]>;
  /**
   * The devices that match, by ascending number, as of the moment of the first batch. The generator holds a connection to the
   * store until it ends or is returned. Rejects with `StoreFailure`.
   */
  scanDevices(filter: DeviceFilter, options?: ScanOptions): AsyncGenerator<readonly DeviceRow[], void>;
  /**
   * Calls the listener after each commit of this handle, before the promise of the commit resolves, and after commits of other
   * handles, as soon as the store learns of them: a store with several handles looks four times a second, and after hints of the others. One call may stand for
   * several commits, and a call may repeat what an earlier one said. Users and tokens are named as soon as their change is visible;
   * `lastEventId` is that of an entry that no failover can undo. Returns the function that stops this.
   */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Absent if the store has one handle at a time: then counters in memory do. */
  readonly counters?: SharedCounters;
  /** Absent if the store has one handle at a time. */
  readonly sharedWork?: SharedWork;
  /**
   * Milliseconds by which listeners may be behind: of every commit that another handle made before that, they have learned. Always 0
   * for a store that has no other handles. Grows while the server does not answer.
   */
  behind(): number;
  /** Whether writes can be expected to succeed. `detail` may be shown to anyone; `error` is for the log. */
  health(): Promise<{ readonly ready: boolean; readonly detail: string; readonly error?: unknown }>;
  /** Waits for running commits, then closes the store. Idempotent. */
  close(): Promise<void>;
}
