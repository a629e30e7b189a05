/** A device: its record, its changes, and the guards of changes. */

import { type DeviceDescription, descriptionOf } from '../../src/contract/device-description.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { Tags } from '../../src/contract/tags.ts';
import type { DeviceStatus, DeviceType } from '../../src/contract/values.ts';
import type { Entry } from '../store/journal.ts';

/** A device as it is stored. Times are milliseconds since 1970 (UTC), null until the event has happened. */
export interface DeviceRecord extends DeviceDescription {
  /** The number in the id DEV-n: from 1, without gaps. */
  readonly number: number;
  readonly deviceType: DeviceType;
  readonly serialNumber: string;
  readonly status: DeviceStatus;
  /** Whom the device is bound to; null before activation. Not always the id of a user of this registry. */
  readonly userId: string | null;
  /** `personKey` of `userId`; null before activation, and until a device of an earlier version is bound: see `DevicesBind`. */
  readonly userKey: string | null;
  /** Number of the person to whom it is bound; null if `userId` names none. */
  readonly person: number | null;
  readonly activationCode: string;
  readonly activationCodeExpiresAt: number;
  readonly note: string | null;
  readonly createdAt: number;
  readonly activatedAt: number | null;
  readonly lastUsedAt: number | null;
  readonly lockReason: string | null;
  readonly lockedAt: number | null;
  readonly deactivatedAt: number | null;
  /** When it was last sent to its person, and when a touch confirmed that it has arrived: null while it is on its way. */
  readonly shippedAt: number | null;
  readonly receivedAt: number | null;
  readonly updatedAt: number | null;
  readonly usageCount: number;
  /** Sum over all uses. */
  readonly usageSeconds: number;
  readonly backupCount: number;
  readonly lastBackupAt: number | null;
  /** Sorted by name. */
  readonly tags: Tags;
  /** JSON of a `StoredProof`; null without a proof. */
  readonly proof: string | null;
  /** From 1. Rises with each change except a use. */
  readonly version: number;
}

/** Result of a search for a serial number. */
export type DeviceIdentity = Pick<DeviceRecord, 'number' | 'status' | 'proof'>;

/** The fields of a device that a list shows. */
export type DeviceRow = Pick<
  DeviceRecord,
  | 'number'
  | 'deviceType'
  | 'serialNumber'
  | 'manufacturer'
  | 'model'
  | 'status'
  | 'userId'
  | 'userKey'
  | 'person'
  | 'activationCode'
  | 'activationCodeExpiresAt'
  | 'createdAt'
  | 'activatedAt'
  | 'lastUsedAt'
  | 'tags'
  | 'proof'
>;

/** Whether a device is on its way to its person. */
export const isOnItsWay = ({ shippedAt, receivedAt }: Pick<DeviceRecord, 'shippedAt' | 'receivedAt'>): boolean =>
  shippedAt !== null && receivedAt === null;

/** The names of these fields; the compiler knows if one is missing. */
export const deviceRowFields: Record<keyof DeviceRow, 0> = {
  number: 0,
  deviceType: 0,
  serialNumber: 0,
  manufacturer: 0,
  model: 0,
  status: 0,
  userId: 0,
  userKey: 0,
  person: 0,
  activationCode: 0,
  activationCodeExpiresAt: 0,
  createdAt: 0,
  activatedAt: 0,
  lastUsedAt: 0,
  tags: 0,
  proof: 0,
};

/** State of a device that was just registered. */
export const justRegistered = {
  status: 'INACTIVE',
  userId: null,
  userKey: null,
  person: null,
  note: null,
  activatedAt: null,
  lastUsedAt: null,
  lockReason: null,
  lockedAt: null,
  deactivatedAt: null,
  shippedAt: null,
  receivedAt: null,
  updatedAt: null,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  lastBackupAt: null,
  version: 1,
} as const satisfies Partial<DeviceRecord>;

/** Fields of a registration beside `justRegistered`. */
export type NewDevice = Omit<DeviceRecord, keyof typeof justRegistered | 'number' | 'createdAt'>;

/** The record of a new device. It names the other fields, because a spread of all of them takes twice as long (measured). */
export const registeredDevice = (device: NewDevice, number: number, createdAt: number): DeviceRecord => ({
  ...justRegistered,
  number,
  createdAt,
  deviceType: device.deviceType,
  serialNumber: device.serialNumber,
  ...descriptionOf(device),
  activationCode: device.activationCode,
  activationCodeExpiresAt: device.activationCodeExpiresAt,
  tags: device.tags,
  proof: device.proof,
});

/** The record of a new device that is bound at once, as it is after registration and activation. */
export const activatedDevice = (device: DeviceRecord, { userId, person }: FirstOwner): DeviceRecord => ({
  ...device,
  status: 'ACTIVE',
  userId,
  userKey: personKey(userId),
  person: person ?? null,
  activatedAt: device.createdAt,
  version: 2,
});

/** Fields that a change may set; absent ones keep their values. A new `userId` without `person` binds to the person of that name. */
export type DeviceSet = Partial<
  Pick<
    DeviceRecord,
    | 'status'
    | 'userId'
    | 'person'
    | 'activationCode'
    | 'activationCodeExpiresAt'
    | 'firmwareVersion'
    | 'note'
    | 'activatedAt'
    | 'lockReason'
    | 'lockedAt'
    | 'deactivatedAt'
    | 'shippedAt'
    | 'receivedAt'
    | 'updatedAt'
    | 'tags'
    | 'proof'
  >
>;

/** Whom a new device is bound to at once, and the entry of that. `person`: absent for a name that is not one of a person. */
export interface FirstOwner {
  readonly userId: string;
  readonly person?: number;
  readonly entry: Entry;
}

/** The result is `duplicate` if the serial number is already registered. `owner`: the device is ACTIVE from the start. */
export interface DeviceAdd {
  readonly kind: 'device.add';
  readonly device: NewDevice;
  readonly entry: Entry;
  readonly owner?: FirstOwner;
}

export interface DeviceUpdate {
  readonly kind: 'device.set';
  readonly device: number;
  readonly set: DeviceSet;
  /** Of the person in `set`; a `Conflict` if the person has another version. */
  readonly personVersion?: number;
  readonly entry: Entry;
}

/** Raises usageCount by one and usageSeconds by `seconds`, and sets lastUsedAt. The result is `used`, with the sums. */
export interface DeviceUse {
  readonly kind: 'device.use';
  readonly device: number;
  readonly seconds: number;
  readonly entry: Entry;
}

/** Every change of a device. */
export type DeviceChange = DeviceAdd | DeviceUpdate | DeviceUse;

/** Fields that a guard can hold beside the state and the activation code. */
export type HeldFields = Partial<
  Pick<DeviceRecord, 'firmwareVersion' | 'note' | 'tags' | 'lockReason' | 'proof' | 'person'>
>;

/** The device has one of these states, this activation code and this version if they are given, and these values in the given fields. */
export interface DeviceGuard {
  readonly kind: 'device';
  readonly device: number;
  readonly status: readonly DeviceStatus[];
  readonly activationCode?: string;
  readonly version?: number | undefined;
  readonly fields?: HeldFields;
}

/** Fields that guards compare. */
type GuardedPart = Pick<DeviceRecord, 'status' | 'activationCode' | 'version' | keyof HeldFields>;

/** Why the guard does not hold for the device as it is now; null if it does. */
export function brokenBy(guard: DeviceGuard, device: GuardedPart | undefined): string | null {
  if (!device) return `device ${guard.device} does not exist`;
  if (!guard.status.includes(device.status)) return `device ${guard.device} is ${device.status} now`;
  if (guard.activationCode !== undefined && guard.activationCode !== device.activationCode)
    return `device ${guard.device} has another activation code now`;
  if (guard.version !== undefined && guard.version !== device.version)
    return `device ${guard.device} has another version now`;
  const { tags, ...plain } = guard.fields ?? {};
  const changed = Object.entries(plain).find(([field, value]) => device[field as keyof typeof plain] !== value);
  if (changed) return `device ${guard.device} has another ${changed[0]} now`;
  return tags && !sameTags(tags, device.tags) ? `device ${guard.device} has other tags now` : null;
}

function sameTags(tags: Tags, others: Tags): boolean {
  const names = Object.keys(tags);
  return (
    names.length === Object.keys(others).length &&
    names.every(name => Object.hasOwn(others, name) && others[name] === tags[name])
  );
}
