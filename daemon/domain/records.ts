/** What a store keeps. Times are milliseconds since 1970 (UTC); numbers are those behind DEV-, USR-, APP-, BKP-. */
import type { Platform } from '../../src/contract/apps.ts';
import type { Role } from '../../src/contract/define.ts';
import type { DeviceStatus, DeviceType } from '../../src/contract/device-fields.ts';
import type { JournalEventType } from '../../src/contract/events.ts';

export interface DeviceRecord {
  readonly number: number;
  readonly deviceType: DeviceType;
  readonly serialNumber: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly hardwareVersion: string | null;
  readonly firmwareVersion: string | null;
  readonly status: DeviceStatus;
  readonly userId: string | null;
  readonly activationCode: string;
  readonly activationCodeExpiresAt: number;
  readonly note: string | null;
  readonly createdAt: number;
  readonly activatedAt: number | null;
  readonly lastUsedAt: number | null;
  readonly lockReason: string | null;
  readonly lockedAt: number | null;
  readonly deactivatedAt: number | null;
  readonly updatedAt: number | null;
  readonly usageCount: number;
  readonly usageSeconds: number;
  readonly backupCount: number;
  readonly lastBackupAt: number | null;
}

/** What a list shows of a device. */
export type DeviceRow = Pick<
  DeviceRecord,
  | 'number'
  | 'deviceType'
  | 'serialNumber'
  | 'manufacturer'
  | 'model'
  | 'status'
  | 'userId'
  | 'activationCode'
  | 'createdAt'
  | 'activatedAt'
  | 'lastUsedAt'
>;

export interface UserRecord {
  readonly number: number;
  readonly username: string;
  /** Encoded hash with its parameters; never leaves the daemon. */
  readonly passwordHash: string;
  readonly role: Role;
  readonly email: string | null;
  readonly disabled: boolean;
  readonly createdAt: number;
  /** Raised whenever tokens given out so far must stop being good. */
  readonly tokenEpoch: number;
}

export interface AppRecord {
  readonly number: number;
  readonly platform: Platform;
  readonly version: string;
  readonly versionName: string | null;
  readonly changelog: string | null;
  readonly forceUpdate: boolean;
  readonly minSupportVersion: string | null;
  readonly fileName: string;
  /** Lower case, without the dot. */
  readonly extension: string;
  readonly fileSize: number;
  readonly sha256: string;
  readonly uploadedBy: string;
  readonly createdAt: number;
  /** Name of the file among the stored blobs. */
  readonly blob: string;
}

export interface BackupRecord {
  readonly number: number;
  readonly device: number;
  readonly fileName: string;
  readonly fileSize: number;
  readonly sha256: string;
  readonly note: string | null;
  readonly createdAt: number;
  readonly blob: string;
}

/** Kinds of journal entry that are kept but not notified. */
export type PrivateEventType =
  | 'USER_CREATED'
  | 'USER_UPDATED'
  | 'USER_LOGGED_OUT'
  | 'PASSWORD_CHANGED'
  | 'DEVICE_USED'
  | 'BACKUP_CREATED'
  | 'BACKUP_RESTORED';

/** What a change writes into the journal. */
export interface Entry {
  readonly type: JournalEventType | PrivateEventType;
  /** Public part of the notification, without the id of its subject, which the store adds. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** For the audit alone: reason, note, what it was before. Never a code, password or token. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface EventRecord {
  /** Place in the journal: ascends without gaps, in the order of commits. */
  readonly id: number;
  readonly at: number;
  readonly type: JournalEventType | PrivateEventType;
  readonly device: number | null;
  /** Number of the user, application version or backup it is about; null where it is about the device alone. */
  readonly subject: number | null;
  /** Name of who did it; null where the daemon did. */
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly detail: Readonly<Record<string, unknown>>;
}
