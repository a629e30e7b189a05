/** Records and times as the interface shows them. */

import type { DataOf } from '../../src/contract/define.ts';
import { descriptionOf } from '../../src/contract/device-description.ts';
import type { DeviceDetail, DeviceListItem } from '../../src/contract/devices.ts';
import { dayMs } from '../../src/contract/durations.ts';
import { deviceIds, personIds, tokenIds, userIds } from '../../src/contract/ids.ts';
import type { Routes } from '../../src/contract/routes.ts';
import type { ServiceToken } from '../../src/contract/tokens.ts';
import type * as api from '../../src/contract/users.ts';
import type { DeviceRecord, DeviceRow } from '../domain/device.ts';
import { shownProof } from '../domain/proof.ts';
import { actorName, type ServiceTokenRecord } from '../domain/service-token.ts';
import type { UserRecord } from '../domain/user.ts';
import type { Caller } from './context.ts';

/** Days whose text is cached: a page of devices names only a few. */
const MAX_CACHED_DAYS = 4096;
const days = new Map<number, string>();
const two = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

/**
 * Returns what `toISOString` does for a time in whole milliseconds since 1970, and throws RangeError in the same cases. The day
 * is cached and the rest takes four table lookups: measured 0.15 µs instead of 0.47, half the cost of a page of a list.
 */
export function iso(at: number): string {
  const day = Math.floor(at / dayMs);
  const millisecond = at - day * dayMs;
  const second = Math.floor(millisecond / 1000);
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  const fraction = millisecond - second * 1000;
  const thousandths = fraction < 100 ? `0${two[fraction]}` : String(fraction);
  return `${days.get(day) ?? dayText(day)}${two[hour]}:${two[minute - hour * 60]}:${two[second - minute * 60]}.${thousandths}Z`;
}

/** The date with its T. */
function dayText(day: number): string {
  const text = new Date(day * dayMs).toISOString().slice(0, -'00:00:00.000Z'.length);
  if (days.size >= MAX_CACHED_DAYS) days.clear();
  days.set(day, text);
  return text;
}

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

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
export function detail(device: DeviceRecord, caller: Caller, bound: UserRecord | null): DeviceDetail {
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
    updatedAt: isoOrNull(device.updatedAt),
    tags: device.tags,
    proof: shownProof(device.proof),
    version: device.version,
    statistics: {
      totalUsageCount: device.usageCount,
      totalUsageDuration: device.usageSeconds,
      backupCount: device.backupCount,
      lastBackupAt: isoOrNull(device.lastBackupAt),
    },
  };
}

/** A user, without the password. */
export const user = (record: Omit<UserRecord, 'userKey'>): api.User => ({
  ...loginUser(record),
  disabled: record.disabled,
  createdAt: iso(record.createdAt),
});

/** The response to a sign-in of any kind. `expiresAt`: milliseconds since 1970. */
export const login = (
  record: UserRecord,
  { token, expiresAt }: { readonly token: string; readonly expiresAt: number },
): DataOf<Routes['login']> => ({ token, expireTime: iso(expiresAt), user: loginUser(record) });

const loginUser = ({
  number,
  username,
  role,
  email,
}: Omit<UserRecord, 'userKey'>): DataOf<Routes['login']>['user'] => ({
  id: userIds.format(number),
  username,
  role,
  email,
});

/** The session of a user. */
export function session({ user, session: opened, expiresAt }: Caller): DataOf<Routes['getSession']> {
  const signedInAt = opened?.signedInAt ?? 0;
  return {
    user: loginUser(user!),
    sso: opened?.sso !== undefined,
    console: opened?.console ?? false,
    withKey: opened?.withKey ?? false,
    signedInAt: signedInAt > 0 ? iso(signedInAt * 1000) : null,
    expireTime: iso(expiresAt * 1000),
  };
}

/** A service token, without its text. `owner`: user name. */
export function serviceToken(
  record: ServiceTokenRecord,
  { owner, ownerLost }: Pick<ServiceToken, 'owner' | 'ownerLost'>,
): ServiceToken {
  return {
    tokenId: tokenIds.format(record.number),
    name: record.name,
    role: record.role,
    createdBy: record.createdBy,
    owner,
    ownerLost,
    createdAt: iso(record.createdAt),
    expiresAt: iso(record.expiresAt),
    lastUsedAt: isoOrNull(record.lastUsedAt),
    revokedAt: isoOrNull(record.revokedAt),
    allowedFrom: record.allowedFrom === null ? null : [...record.allowedFrom],
    may: [...record.may],
  };
}

/** The user or service token that makes a request; null for the role LOCAL. */
export function me({ user: person, serviceToken: token }: Caller): DataOf<Routes['getOwnUser']> | null {
  if (person) return user(person);
  if (!token) return null;
  return {
    id: tokenIds.format(token.number),
    username: actorName(token),
    role: token.role,
    email: null,
    disabled: false,
    createdAt: iso(token.createdAt),
    expiresAt: iso(token.expiresAt),
  };
}
