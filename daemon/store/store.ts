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

import type { Platform } from '../../src/contract/values.ts';
import type { AppRecord } from '../domain/app.ts';
import type { BackupRecord } from '../domain/backup.ts';
import type { ServiceTokenRecord, UserRecord } from '../domain/callers.ts';
import type { CredentialRecord } from '../domain/credential.ts';
import type { DeviceIdentity, DeviceRecord, DeviceRow } from '../domain/device.ts';
import type { DocumentName, DocumentRecord } from '../domain/document.ts';
import type { EventRecord } from '../domain/journal.ts';
import type { PasskeyRecord } from '../domain/passkey.ts';
import type { PersonRecord } from '../domain/person.ts';
import type { LatestProof, ProofRecord } from '../domain/proof.ts';
import type { ReceiptRecord } from '../domain/receipt.ts';
import type { RefusedRow } from '../domain/refused.ts';
import type { SsoSessionsRow } from '../domain/sso.ts';
import type { ProgressRecord } from '../domain/webhook.ts';
import type { CredentialReads } from '../issuing/reads.ts';
import type { BindingReads } from '../people/bindings.ts';
import type { ChangeResult, Commit, StoredResponse } from './commit.ts';
import type {
  DeviceFilter,
  DeviceQuery,
  DeviceStatistics,
  EventFilter,
  JournalHead,
  PersonFilter,
  ReceiptFilter,
  Rows,
  ScanOptions,
  StatisticsQuery,
  Window,
} from './queries.ts';
import type { SharedState } from './short-lived.ts';

/** The reads of a registry. A record that does not exist is null. All reject with `StoreFailure`. */
export interface Reader extends CredentialReads, BindingReads {
  device(number: number): Promise<DeviceRecord | null>;
  /** The registered ones among the serial numbers. */
  devicesBySerial(serials: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>>;
  devices(query: DeviceQuery): Promise<Rows<DeviceRow>>;
  statistics(query: StatisticsQuery): Promise<DeviceStatistics>;
  user(number: number): Promise<UserRecord | null>;
  userByName(username: string): Promise<UserRecord | null>;
  /** The accounts whose name is equal to that of a person: see `personKey`. */
  usersNamed(userName: string): Promise<readonly UserRecord[]>;
  /** In order of creation. */
  users(window: Window): Promise<Rows<UserRecord>>;
  /** Enabled users with the role ADMIN. */
  admins(): Promise<readonly UserRecord[]>;
  serviceToken(number: number): Promise<ServiceTokenRecord | null>;
  /** The token whose text has this SHA-256 (lower-case hex). */
  serviceTokenByDigest(sha256: string): Promise<ServiceTokenRecord | null>;
  /** Service tokens of this owner that are not revoked. */
  serviceTokensOf(owner: number): Promise<readonly ServiceTokenRecord[]>;
  /** In order of creation, including expired and revoked ones. */
  serviceTokens(window: Window): Promise<Rows<ServiceTokenRecord>>;
  /** The key with this number, also if it is removed. */
  credential(number: number): Promise<CredentialRecord | null>;
  /** All credentials of a device at providers, removed ones included, by number. */
  credentialsOf(device: number): Promise<readonly CredentialRecord[]>;
  /** Likewise, of one account at a provider. */
  credentialsOfAccount(provider: number, account: string): Promise<readonly CredentialRecord[]>;
  passkey(number: number): Promise<PasskeyRecord | null>;
  /** The key with this credential id, also if it is removed. */
  passkeyByCredential(credentialId: string): Promise<PasskeyRecord | null>;
  /** The keys of a user that are not removed, in order of creation. */
  passkeysOf(owner: number): Promise<readonly PasskeyRecord[]>;
  /** Whether the user has a key or had one that was removed. */
  hadPasskey(owner: number): Promise<boolean>;
  person(number: number): Promise<PersonRecord | null>;
  /** The person whom the user name means: see `personKey` and `holderOf`. */
  personByName(userName: string): Promise<PersonRecord | null>;
  /** All persons with an equal user name, by number: at most one of them is not removed. */
  peopleNamed(userName: string): Promise<readonly PersonRecord[]>;
  /** In order of creation. */
  people(query: PersonFilter & Window): Promise<Rows<PersonRecord>>;
  /** Which of these users have a key that is not removed. */
  keyOwners(users: readonly number[]): Promise<ReadonlySet<number>>;
  /** The answer to this challenge. */
  proof(proofId: string): Promise<ProofRecord | null>;
  /** For each of the serial numbers with answers the last one with evidence, or if none has evidence the last one. */
  latestProofs(serials: readonly string[]): Promise<ReadonlyMap<string, LatestProof>>;
  /** The stored answers of a key, in no order. */
  proofsOf(serialNumber: string): Promise<readonly ProofRecord[]>;
  receipt(receiptId: string): Promise<ReceiptRecord | null>;
  receiptNumbered(number: number): Promise<ReceiptRecord | null>;
  /** In order of creation. */
  receipts(query: ReceiptFilter & Window): Promise<Rows<ReceiptRecord>>;
  /** Whether an answer to another challenge has this digest. */
  hasEvidence(evidenceDigest: string, besides: string): Promise<boolean>;
  document(name: DocumentName): Promise<DocumentRecord | null>;
  /** The version of a document; 0 if it does not exist. */
  documentVersion(name: DocumentName): Promise<number>;
  /** The progress of an endpoint. */
  webhookProgress(webhook: number): Promise<ProgressRecord | null>;
  /** The sessions of a user that came from the provider. */
  ssoSessions(user: number): Promise<SsoSessionsRow | null>;
  /** Those of all users. */
  allSsoSessions(): Promise<readonly SsoSessionsRow[]>;
  /** What each source sent and could not be stored. */
  refusedRequests(): Promise<readonly RefusedRow[]>;
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
  /** Numbers of the service tokens that were added or revoked, or that have another owner. */
  readonly serviceTokens: readonly number[];
  /**
   * Any user and any token may have changed: the store has another server, which may lack changes that the last one has shown, or the sessions of
   * single sign-on have ended.
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
   * handles, as soon as the store learns of them: a store with several handles looks four times a second, and after hints of the others. One
   * call may report several commits, and a call may repeat an earlier one. Users and tokens are named as soon as their change is visible;
   * `lastEventId` is that of an entry that no failover can undo. Returns the function that stops this.
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
  /** Whether writes can be expected to succeed. `detail` may be shown to anyone; `error` is for the log. */
  health(): Promise<{ readonly ready: boolean; readonly detail: string; readonly error?: unknown }>;
  /** Waits for running commits, then closes the store. Idempotent. */
  close(): Promise<void>;
}
