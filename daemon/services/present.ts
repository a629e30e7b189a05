/** Records as the interface shows them. */
import type { DeviceDetail, DeviceListItem } from '../../src/contract/devices.ts';
import { deviceIds, userIds } from '../../src/contract/ids.ts';
import type { User } from '../../src/contract/users.ts';
import type { DeviceRecord, DeviceRow, UserRecord } from '../store/store.ts';
import type { Caller } from './context.ts';
import { isoTime } from './iso-time.ts';

export const iso = isoTime;
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

/** A VIEWER does not see activation codes. */
const codeFor = (caller: Caller, code: string): string | null => (caller.role === 'VIEWER' ? null : code);

export function listItem(row: DeviceRow, caller: Caller): DeviceListItem {
  return {
    deviceId: deviceIds.format(row.number),
    deviceType: row.deviceType,
    serialNumber: row.serialNumber,
    manufacturer: row.manufacturer,
    model: row.model,
    status: row.status,
    userId: row.userId,
    activationCode: codeFor(caller, row.activationCode),
    createdAt: iso(row.createdAt),
    activatedAt: isoOrNull(row.activatedAt),
    lastUsedAt: isoOrNull(row.lastUsedAt),
  };
}

export function detail(device: DeviceRecord, caller: Caller, bound: UserRecord | null): DeviceDetail {
  return {
    deviceId: deviceIds.format(device.number),
    deviceType: device.deviceType,
    serialNumber: device.serialNumber,
    manufacturer: device.manufacturer,
    model: device.model,
    hardwareVersion: device.hardwareVersion,
    firmwareVersion: device.firmwareVersion,
    status: device.status,
    userId: device.userId,
    userName: bound?.username ?? null,
    userEmail: bound?.email ?? null,
    activationCode: codeFor(caller, device.activationCode),
    activationCodeExpiresAt: iso(device.activationCodeExpiresAt),
    note: device.note,
    createdAt: iso(device.createdAt),
    activatedAt: isoOrNull(device.activatedAt),
    lastUsedAt: isoOrNull(device.lastUsedAt),
    lockReason: device.lockReason,
    lockedAt: isoOrNull(device.lockedAt),
    deactivatedAt: isoOrNull(device.deactivatedAt),
    updatedAt: isoOrNull(device.updatedAt),
    statistics: {
      totalUsageCount: device.usageCount,
      totalUsageDuration: device.usageSeconds,
      backupCount: device.backupCount,
      lastBackupAt: isoOrNull(device.lastBackupAt),
    },
  };
}

export function user(record: UserRecord): User {
  return {
    id: userIds.format(record.number),
    username: record.username,
    role: record.role,
    email: record.email,
    disabled: record.disabled,
    createdAt: iso(record.createdAt),
  };
}
