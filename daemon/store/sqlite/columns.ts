import type { AppRecord, BackupRecord, DeviceRecord, DeviceRow, DeviceSet, UserRecord, UserSet } from '../store.ts';

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/** The columns of a table under the names of the record's fields. */
const named = (fields: object) =>
  Object.keys(fields)
    .map(field => (snake(field) === field ? field : `${snake(field)} AS ${field}`))
    .join(', ');

const row: Record<keyof DeviceRow, 0> = {
  number: 0,
  deviceType: 0,
  serialNumber: 0,
  manufacturer: 0,
  model: 0,
  status: 0,
  userId: 0,
  activationCode: 0,
  createdAt: 0,
  activatedAt: 0,
  lastUsedAt: 0,
};
const device: Record<keyof DeviceRecord, 0> = {
  ...row,
  hardwareVersion: 0,
  firmwareVersion: 0,
  activationCodeExpiresAt: 0,
  note: 0,
  lockReason: 0,
  lockedAt: 0,
  deactivatedAt: 0,
  updatedAt: 0,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  lastBackupAt: 0,
};
const user: Record<keyof UserRecord, 0> = {
  number: 0,
  username: 0,
  passwordHash: 0,
  role: 0,
  email: 0,
  disabled: 0,
  createdAt: 0,
  tokenEpoch: 0,
};
const app: Record<keyof AppRecord, 0> = {
  number: 0,
  platform: 0,
  version: 0,
  versionName: 0,
  changelog: 0,
  forceUpdate: 0,
  minSupportVersion: 0,
  fileName: 0,
  extension: 0,
  fileSize: 0,
  sha256: 0,
  uploadedBy: 0,
  createdAt: 0,
  blob: 0,
};
const backup: Record<keyof BackupRecord, 0> = {
  number: 0,
  device: 0,
  fileName: 0,
  fileSize: 0,
  sha256: 0,
  note: 0,
  createdAt: 0,
  blob: 0,
};

/** What a SELECT names to get records; rows come out with exactly the record's fields (booleans as 0 and 1). */
export const select = {
  device: named(device),
  deviceRow: named(row),
  user: named(user),
  app: named(app),
  backup: named(backup),
} as const;

const deviceSet: Record<keyof DeviceSet, 0> = {
  status: 0,
  userId: 0,
  activationCode: 0,
  activationCodeExpiresAt: 0,
  firmwareVersion: 0,
  note: 0,
  activatedAt: 0,
  lockReason: 0,
  lockedAt: 0,
  deactivatedAt: 0,
  updatedAt: 0,
};
const userSet: Record<keyof UserSet, 0> = { role: 0, email: 0, disabled: 0, passwordHash: 0 };
const settable = { device: Object.keys(deviceSet), user: Object.keys(userSet) };

/** The part of an UPDATE between SET and WHERE, and its values. Fields that are absent stay as they are. */
export function assignments(
  table: keyof typeof settable,
  set: DeviceSet | UserSet,
): { sql: string; values: unknown[] } {
  const given = set as Readonly<Record<string, unknown>>;
  const fields = settable[table].filter(field => given[field] !== undefined);
  return {
    sql: fields.map(field => `${snake(field)} = ?`).join(', '),
    values: fields.map(field => (typeof given[field] === 'boolean' ? Number(given[field]) : given[field])),
  };
}

type Flags<T> = { readonly [K in keyof T]: T[K] extends boolean ? number : T[K] };
export type UserColumns = Flags<UserRecord>;
export type AppColumns = Flags<AppRecord>;

export const toUser = (columns: UserColumns): UserRecord => ({ ...columns, disabled: columns.disabled === 1 });
export const toApp = (columns: AppColumns): AppRecord => ({ ...columns, forceUpdate: columns.forceUpdate === 1 });
