/** What is said of a device: at its registration, in lists, and in full. */
import { type Static, Type } from 'typebox';
import * as f from './device-fields.ts';
import { count, nullable, oneOf, shown, timestamp } from './fields.ts';

/** Fields of every answer that shows a device. */
export const stored = {
  serialNumber: shown('serial number', 'UK-2026-000001'),
  manufacturer: shown('manufacturer'),
  model: shown('model'),
};
const optionalTime = (description: string) => nullable(timestamp(description));
const maybeCode = nullable(f.activationCode);

export const registration = Type.Object({
  deviceType: f.deviceType,
  serialNumber: f.serialNumber,
  manufacturer: f.manufacturer,
  model: f.model,
  hardwareVersion: Type.Optional(nullable(f.version('hardware version'))),
  firmwareVersion: Type.Optional(nullable(f.version('firmware version'))),
});
export type Registration = Static<typeof registration>;

export const batchItem = Type.Object({
  serialNumber: nullable(shown('serial number as it was given; null where there was none')),
  deviceId: Type.Optional(f.deviceId),
  activationCode: Type.Optional(f.activationCode),
  status: oneOf(['success', 'failed'] as const),
  message: shown('what happened to the item'),
  code: Type.Optional(Type.Integer({ description: 'business code of a failed item' })),
});
export type BatchItem = Static<typeof batchItem>;

export { type DeviceSort, deviceSorts } from './values.ts';

export const deviceListItem = Type.Object({
  deviceId: f.deviceId,
  deviceType: f.deviceType,
  ...stored,
  status: f.deviceStatus,
  userId: nullable(shown('bound user')),
  activationCode: maybeCode,
  createdAt: timestamp('when it was registered'),
  activatedAt: optionalTime('when it was activated'),
  lastUsedAt: optionalTime('when it was last used'),
});
export type DeviceListItem = Static<typeof deviceListItem>;

export const deviceDetailData = Type.Object({
  deviceId: f.deviceId,
  deviceType: f.deviceType,
  ...stored,
  hardwareVersion: nullable(shown('hardware version')),
  firmwareVersion: nullable(shown('firmware version')),
  status: f.deviceStatus,
  userId: nullable(shown('bound user')),
  userName: nullable(shown('name of the bound user, where that is a user of this system')),
  userEmail: nullable(shown('e-mail address of the bound user, where that is a user of this system')),
  activationCode: maybeCode,
  activationCodeExpiresAt: optionalTime('until when the activation code is good'),
  note: nullable(shown('remark')),
  createdAt: timestamp('when it was registered'),
  activatedAt: optionalTime('when it was activated'),
  lastUsedAt: optionalTime('when it was last used'),
  lockReason: nullable(shown('why it is locked')),
  lockedAt: optionalTime('when it was locked'),
  deactivatedAt: optionalTime('when it was retired'),
  updatedAt: optionalTime('when it was last updated'),
  statistics: Type.Object({
    totalUsageCount: count('times it was used'),
    totalUsageDuration: count('seconds it was used'),
    backupCount: count('backups kept'),
    lastBackupAt: optionalTime('when the last backup was made'),
  }),
});
export type DeviceDetail = Static<typeof deviceDetailData>;
