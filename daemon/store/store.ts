/**
 * What the daemon asks of a store. Reads are asynchronous. The only way to write is `commit`: it applies its changes and
 * their journal entries together or not at all, and refuses when a guard no longer holds. Any store that passes
 * `tests/contract/store.ts` will do. Times are milliseconds since 1970 (UTC); numbers are those behind DEV-, USR-, APP-, BKP-.
 */

import type { Platform } from '../../src/contract/apps.ts';
import type { DeviceStatus, DeviceType } from '../../src/contract/device-fields.ts';
import type { DeviceSort } from '../../src/contract/devices.ts';

import type {
  AppRecord,
  BackupRecord,
  DeviceRecord,
  DeviceRow,
  Entry,
  EventRecord,
  UserRecord,
} from '../domain/records.ts';

export type * from '../domain/records.ts';

export type NewDevice = Pick<
  DeviceRecord,
  | 'deviceType'
  | 'serialNumber'
  | 'manufacturer'
  | 'model'
  | 'hardwareVersion'
  | 'firmwareVersion'
  | 'activationCode'
  | 'activationCodeExpiresAt'
>;
export type DeviceSet = Partial<
  Pick<
    DeviceRecord,
    | 'status'
    | 'userId'
    | 'activationCode'
    | 'activationCodeExpiresAt'
    | 'firmwareVersion'
    | 'note'
    | 'activatedAt'
    | 'lockReason'
    | 'lockedAt'
    | 'deactivatedAt'
    | 'updatedAt'
  >
>;
export type UserSet = Partial<Pick<UserRecord, 'role' | 'email' | 'disabled' | 'passwordHash'>>;

/** Everything that can be written. `createdAt` of what is added is the commit's `at`. */
export type Change =
  /** INACTIVE. A serial that exists is no conflict but an outcome: `duplicate`. */
  | { readonly kind: 'device.add'; readonly device: NewDevice; readonly entry: Entry }
  | { readonly kind: 'device.set'; readonly device: number; readonly set: DeviceSet; readonly entry: Entry }
  /** Raises usageCount by one and usageSeconds by `seconds`; sets lastUsedAt. Outcome: `used`, the sums. */
  | { readonly kind: 'device.use'; readonly device: number; readonly seconds: number; readonly entry: Entry }
  /** A username that exists is an outcome: `duplicate`. */
  | {
      readonly kind: 'user.add';
      readonly user: Omit<UserRecord, 'number' | 'createdAt' | 'tokenEpoch'>;
      readonly entry: Entry;
    }
  /** `revoke` raises tokenEpoch. */
  | {
      readonly kind: 'user.set';
      readonly user: number;
      readonly set: UserSet;
      readonly revoke: boolean;
      readonly entry: Entry;
    }
  /** The same platform, version and extension once more is an outcome: `duplicate`. */
  | { readonly kind: 'app.add'; readonly app: Omit<AppRecord, 'number' | 'createdAt'>; readonly entry: Entry }
  /** Also raises the device's backupCount and sets its lastBackupAt. */
  | { readonly kind: 'backup.add'; readonly backup: Omit<BackupRecord, 'number' | 'createdAt'>; readonly entry: Entry }
  /** Writes the entry alone. */
  | { readonly kind: 'backup.restore'; readonly device: number; readonly backup: number; readonly entry: Entry };

/** What must still be so at the moment of the commit. */
export type Guard =
  | {
      readonly kind: 'device';
      readonly device: number;
      readonly status: readonly DeviceStatus[];
      readonly activationCode?: string;
    }
  | { readonly kind: 'user'; readonly user: number; readonly tokenEpoch: number }
  /** At least one enabled ADMIN beside this user remains. */
  | { readonly kind: 'another-admin'; readonly beside: number };

/** One for each change, in order. */
export type Outcome =
  | { readonly kind: 'added'; readonly number: number }
  | { readonly kind: 'duplicate'; readonly number: number; readonly status: DeviceStatus | null }
  | { readonly kind: 'used'; readonly usageCount: number; readonly usageSeconds: number }
  | { readonly kind: 'done' };

export interface Commit {
  /** The one `now` of everything in it. */
  readonly at: number;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly changes: readonly Change[];
  readonly guards?: readonly Guard[];
}

/** A guard did not hold, or a row to change is not there: nothing of this commit was written. Read again and decide again. */
export class Conflict extends Error {
  constructor(what: string) {
    super(`conflict: ${what}`);
    this.name = 'Conflict';
  }
}

/** The store cannot do its work (disk full, damaged, closed): nothing of this commit was written. `message` is for the log. */
export class StoreFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreFailure';
  }
}

export interface DeviceFilter {
  readonly deviceType?: DeviceType | undefined;
  readonly status?: DeviceStatus | undefined;
  readonly manufacturer?: string | undefined;
  readonly userId?: string | undefined;
  /** Substring of `DEV-n` or of the serial number; letters of ASCII in any case. */
  readonly keyword?: string | undefined;
}

export interface DeviceQuery extends DeviceFilter {
  /** Nulls come last in both directions; ties go by number in the same direction. `deviceId` sorts as a number. */
  readonly sortBy: DeviceSort;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface Rows<T> {
  readonly rows: readonly T[];
  /** Of all pages. */
  readonly total: number;
}

export interface Window {
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface EventFilter {
  readonly after: number;
  readonly limit: number;
  readonly types?: readonly EventRecord['type'][] | undefined;
  readonly device?: number | undefined;
  readonly actor?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface Reader {
  device(number: number): Promise<DeviceRecord | null>;
  /** Those of the serials that are registered. */
  devicesBySerial(serials: readonly string[]): Promise<ReadonlyMap<string, Pick<DeviceRecord, 'number' | 'status'>>>;
  devices(query: DeviceQuery): Promise<Rows<DeviceRow>>;
  user(number: number): Promise<UserRecord | null>;
  userByName(username: string): Promise<UserRecord | null>;
  users(window: Window): Promise<Rows<UserRecord>>;
  /** Enabled users of the role ADMIN. */
  admins(): Promise<readonly UserRecord[]>;
  app(number: number): Promise<AppRecord | null>;
  apps(window: Window & { readonly platform?: Platform | undefined }): Promise<Rows<AppRecord>>;
  /** All versions of a platform, newest upload last. */
  appsOf(platform: Platform): Promise<readonly AppRecord[]>;
  backup(number: number): Promise<BackupRecord | null>;
  backups(device: number, window: Window): Promise<Rows<BackupRecord>>;
  /** In the order of the journal. */
  events(filter: EventFilter): Promise<readonly EventRecord[]>;
  /** Id of the last entry; 0 where there is none. */
  lastEventId(): Promise<number>;
  /** Names of the blobs that records refer to (those of the names given that are). */
  knownBlobs(names: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface CommitNotice {
  readonly lastEventId: number;
  /** Numbers of users that were changed or added. */
  readonly users: readonly number[];
}

export interface Store extends Reader {
  /**
   * Resolves when everything is on disk. Commits that arrive together may share one transaction; one that is refused
   * does not undo the others. Rejects with `Conflict` or `StoreFailure`; then nothing of it was written.
   */
  commit(commit: Commit): Promise<readonly Outcome[]>;
  /** Told after each commit, before its promise resolves. Returns the way to stop. */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Whether writes can be expected to succeed. */
  health(): Promise<{ readonly ready: boolean; readonly detail: string }>;
  /** Waits for commits under way, then lets go of the store. Idempotent. */
  close(): Promise<void>;
}
