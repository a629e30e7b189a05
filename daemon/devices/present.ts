/** Devices as the interface shows them. */
import { descriptionOf } from '../../src/contract/device-description.ts';
import type { DeviceDetail, DeviceListItem } from '../../src/contract/devices.ts';
import { deviceIds, personIds } from '../../src/contract/ids.ts';
import { iso, isoOrNull } from '../base/time.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Caller } from '../requests/context.ts';
import type { ShownIdentity } from './judges.ts';
import { shownProof } from './proof.ts';
import type { DeviceRecord, DeviceRow } from './records.ts';

/** A VIEWER does not see activation codes. */
const codeFor = (caller: Caller, code: string): string | null => (caller.role === 'VIEWER' ? null : code);

/** A VIEWER does not see persons. */
const personFor = (caller: Caller, person: number | null): string | null =>
  person === null || caller.role === 'VIEWER' ? null : personIds.format(person);

/** A device in a list. */
export function listItem(row: DeviceRow, caller: Caller): DeviceListItem {
  return {
    deviceId: deviceIds.format(row.number),
    deviceType: row.deviceType,
    serialNumber: row.serialNumber,
    manufacturer: row.manufacturer,
    model: row.model,
    status: row.status,
    userId: row.userId,
    personId: personFor(caller, row.person),
    activationCode: codeFor(caller, row.activationCode),
    createdAt: iso(row.createdAt),
    activatedAt: isoOrNull(row.activatedAt),
    lastUsedAt: isoOrNull(row.lastUsedAt),
    tags: row.tags,
    proof: shownProof(row.proof),
  };
}

/** One device. `bound`: the user it is bound to, if that is a user of this registry. */
export function detail(
  device: DeviceRecord,
  caller: Caller,
  bound: UserRecord | null,
  identity: ShownIdentity,
): DeviceDetail {
  return {
    deviceId: deviceIds.format(device.number),
    deviceType: device.deviceType,
    serialNumber: device.serialNumber,
    ...descriptionOf(device),
    status: device.status,
    userId: device.userId,
    personId: personFor(caller, device.person),
    userName: bound?.username ?? null,
    userEmail: caller.role === 'ADMIN' ? (bound?.email ?? null) : null,
    activationCode: codeFor(caller, device.activationCode),
    activationCodeExpiresAt: iso(device.activationCodeExpiresAt),
    note: device.note,
    createdAt: iso(device.createdAt),
    activatedAt: isoOrNull(device.activatedAt),
    lastUsedAt: isoOrNull(device.lastUsedAt),
    lockReason: device.lockReason,
    lockedAt: isoOrNull(device.lockedAt),
    deactivatedAt: isoOrNull(device.deactivatedAt),
    shippedAt: isoOrNull(device.shippedAt),
    receivedAt: isoOrNull(device.receivedAt),
    updatedAt: isoOrNull(device.updatedAt),
    tags: device.tags,
    proof: shownProof(device.proof),
    ...identity,
    version: device.version,
    statistics: {
      totalUsageCount: device.usageCount,
      totalUsageDuration: device.usageSeconds,
      backupCount: device.backupCount,
      lastBackupAt: isoOrNull(device.lastBackupAt),
    },
  };
}
