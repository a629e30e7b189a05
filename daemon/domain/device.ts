/** What may be done to a device in which state: decisions without I/O. A refusal is an `ApiError`. */
import { ApiError, type ErrorCode } from '../../src/contract/codes.ts';
import type { DeviceStatus } from '../../src/contract/device-fields.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { Change, DeviceRecord, Entry, Guard } from '../store/store.ts';
import { sameActivationCode } from './activation-code.ts';

type Refusal = readonly [code: ErrorCode, why: string];
type Rule = Readonly<Record<DeviceStatus, 'yes' | Refusal>>;

const locked: Refusal = [2004, 'is locked; unlock it first'];
const deactivated: Refusal = [2005, 'is deactivated for good'];
const activated: Refusal = [2002, 'is already activated'];
const notActive: Refusal = [1001, 'is not active; activate it first'];
const notLocked: Refusal = [1001, 'is not locked'];

/** State × operation. */
const rules = {
  activate: { INACTIVE: 'yes', ACTIVE: activated, LOCKED: locked, DEACTIVATED: deactivated },
  lock: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  unlock: { INACTIVE: notLocked, ACTIVE: notLocked, LOCKED: 'yes', DEACTIVATED: deactivated },
  // A stolen key can be retired without being made usable first.
  deactivate: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: deactivated },
  update: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  newCode: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: deactivated },
  use: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  backUp: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  restore: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: deactivated },
} as const satisfies Record<string, Rule>;

export type DeviceOperation = keyof typeof rules;

/** Refuses an operation that the device's state does not allow. */
export function allow(operation: DeviceOperation, device: DeviceRecord): void {
  const rule: 'yes' | Refusal = rules[operation][device.status];
  if (rule !== 'yes') throw new ApiError(rule[0], `device ${deviceIds.format(device.number)} ${rule[1]}`);
}

/** States an operation starts from: what its commit is guarded by. */
export function sources(operation: DeviceOperation): readonly DeviceStatus[] {
  return (Object.keys(rules[operation]) as DeviceStatus[]).filter(status => rules[operation][status] === 'yes');
}

/** A change of one device with the guard it is decided under. */
export interface Decision {
  readonly change: Change;
  readonly guard: Guard;
}

const guard = (operation: DeviceOperation, device: DeviceRecord): Guard => ({
  kind: 'device',
  device: device.number,
  status: sources(operation),
});

function decision(
  operation: DeviceOperation,
  device: DeviceRecord,
  set: Extract<Change, { kind: 'device.set' }>['set'],
  entry: Entry,
): Decision {
  return { change: { kind: 'device.set', device: device.number, set, entry }, guard: guard(operation, device) };
}

export function activate(device: DeviceRecord, code: string, userId: string, now: number): Decision {
  allow('activate', device);
  if (!sameActivationCode(code, device.activationCode) || now >= device.activationCodeExpiresAt)
    throw new ApiError(
      2003,
      `the activation code is not the one of ${deviceIds.format(device.number)}, or has expired`,
    );
  return {
    change: {
      kind: 'device.set',
      device: device.number,
      set: { status: 'ACTIVE', userId, activatedAt: now },
      entry: { type: 'DEVICE_ACTIVATED', data: { deviceType: device.deviceType, userId } },
    },
    guard: { kind: 'device', device: device.number, status: ['INACTIVE'], activationCode: device.activationCode },
  };
}

export function lock(device: DeviceRecord, reason: string, note: string | null, now: number): Decision {
  allow('lock', device);
  return decision(
    'lock',
    device,
    { status: 'LOCKED', lockedAt: now, lockReason: reason },
    {
      type: 'DEVICE_LOCKED',
      data: { deviceType: device.deviceType, lockReason: reason },
      detail: { note },
    },
  );
}

export function unlock(device: DeviceRecord, note: string | null): Decision {
  allow('unlock', device);
  return decision(
    'unlock',
    device,
    { status: 'ACTIVE', lockedAt: null, lockReason: null },
    {
      type: 'DEVICE_UNLOCKED',
      data: { deviceType: device.deviceType },
      detail: { note, wasLockedFor: device.lockReason },
    },
  );
}

export function deactivate(device: DeviceRecord, reason: string, note: string | null, now: number): Decision {
  allow('deactivate', device);
  return decision(
    'deactivate',
    device,
    { status: 'DEACTIVATED', deactivatedAt: now },
    {
      type: 'DEVICE_DEACTIVATED',
      data: { deviceType: device.deviceType },
      detail: { reason, note, before: device.status },
    },
  );
}

/** Absent fields stay as they are, null clears. */
export function update(
  device: DeviceRecord,
  set: { firmwareVersion?: string | null | undefined; note?: string | null | undefined },
  now: number,
): Decision {
  allow('update', device);
  const changed = {
    ...(set.firmwareVersion === undefined ? {} : { firmwareVersion: set.firmwareVersion }),
    ...(set.note === undefined ? {} : { note: set.note }),
  };
  const before = Object.fromEntries(Object.keys(changed).map(field => [field, device[field as keyof typeof changed]]));
  return decision(
    'update',
    device,
    { ...changed, updatedAt: now },
    {
      type: 'DEVICE_UPDATED',
      data: { deviceType: device.deviceType },
      detail: { before, after: changed },
    },
  );
}

export function replaceCode(device: DeviceRecord, code: string, expiresAt: number, reason: string): Decision {
  allow('newCode', device);
  return {
    change: {
      kind: 'device.set',
      device: device.number,
      set: { activationCode: code, activationCodeExpiresAt: expiresAt },
      entry: { type: 'ACTIVATION_CODE_GENERATED', data: { deviceType: device.deviceType }, detail: { reason } },
    },
    guard: { kind: 'device', device: device.number, status: sources('newCode'), activationCode: device.activationCode },
  };
}

export function use(device: DeviceRecord, seconds: number): Decision {
  allow('use', device);
  return {
    change: { kind: 'device.use', device: device.number, seconds, entry: { type: 'DEVICE_USED', detail: { seconds } } },
    guard: guard('use', device),
  };
}
