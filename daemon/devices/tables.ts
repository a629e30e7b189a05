/** The tables of devices. */
import { fixedTexts, forEachText } from '../../src/contract/device-description.ts';
import { type Lookup, StoreTable } from '../store/table.ts';
import { type DeviceRecord, justRegistered } from './records.ts';

export const devices = new StoreTable<DeviceRecord>(
  'device',
  {
    number: 'integer',
    deviceType: 'text',
    serialNumber: 'text',
    ...forEachText(() => 'text' as const),
    status: 'text',
    userId: 'text',
    userKey: 'text',
    person: 'integer',
    activationCode: 'text',
    activationCodeExpiresAt: 'integer',
    note: 'text',
    createdAt: 'integer',
    activatedAt: 'integer',
    lastUsedAt: 'integer',
    lockReason: 'text',
    lockedAt: 'integer',
    deactivatedAt: 'integer',
    shippedAt: 'integer',
    receivedAt: 'integer',
    updatedAt: 'integer',
    usageCount: 'integer',
    usageSeconds: 'integer',
    backupCount: 'integer',
    lastBackupAt: 'integer',
    tags: 'tags',
    proof: 'text',
    version: 'integer',
  },
  {
    fixed: ['deviceType', 'serialNumber', ...fixedTexts, 'createdAt'],
    initial: justRegistered,
    unique: ['serialNumber'],
  },
);

/** The devices of a person, by number. */
export const devicesOf: Lookup<DeviceRecord> = { table: devices, by: ['person'] };

/** The devices that are bound to a name that is not that of a person, by `personKey`. */
export const unmatchedNamed: Lookup<DeviceRecord> = { table: devices, by: ['userKey'], having: { person: null } };

/** The devices that a daemon of an earlier version has bound to exactly this name. */
export const unkeyedNamed: Lookup<DeviceRecord> = { table: devices, by: ['userId'], having: { userKey: null } };

export const activeDevicesOf: Lookup<DeviceRecord> = { ...devicesOf, having: { status: 'ACTIVE' } };
