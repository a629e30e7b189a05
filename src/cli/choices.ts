/**
 * Values of flags that the contract states as schemas. Those take longer to load than a command takes to run; the type
 * checker holds these lists to them.
 */

import type { Platform } from '../contract/apps.ts';
import type { Role } from '../contract/define.ts';
import type { DeviceStatus, DeviceType } from '../contract/device-fields.ts';
import type { DeviceListItem, DeviceSort } from '../contract/devices.ts';
import type { EventType } from '../contract/events.ts';

/** Every member of a union, once each. */
const keysOf = <K extends string>(record: Readonly<Record<K, true>>): readonly K[] => Object.keys(record) as K[];

export const types = keysOf<DeviceType>({ UKEY: true, SIMKEY: true });
export const statuses = keysOf<DeviceStatus>({ INACTIVE: true, ACTIVE: true, LOCKED: true, DEACTIVATED: true });
export const roleNames = keysOf<Role>({ ADMIN: true, DEALER: true, VIEWER: true });
export const platforms = keysOf<Platform>({ WINDOWS: true, MACOS: true, LINUX: true, ANDROID: true, IOS: true });

export const sortFields = keysOf<DeviceSort>({
  createTime: true,
  createdAt: true,
  activatedAt: true,
  lastUsedAt: true,
  updatedAt: true,
  deviceId: true,
  serialNumber: true,
  manufacturer: true,
  model: true,
  status: true,
  deviceType: true,
});

/** Columns of a list as CSV. */
export const deviceFields = keysOf<keyof DeviceListItem>({
  deviceId: true,
  deviceType: true,
  serialNumber: true,
  manufacturer: true,
  model: true,
  status: true,
  userId: true,
  activationCode: true,
  createdAt: true,
  activatedAt: true,
  lastUsedAt: true,
});

export const events = keysOf<EventType>({
  DEVICE_REGISTERED: true,
  DEVICE_ACTIVATED: true,
  DEVICE_LOCKED: true,
  DEVICE_UNLOCKED: true,
  DEVICE_DEACTIVATED: true,
  DEVICE_UPDATED: true,
  ACTIVATION_CODE_GENERATED: true,
  APP_VERSION_UPLOADED: true,
  KEY_ATTACHED: true,
  KEY_DETACHED: true,
});
