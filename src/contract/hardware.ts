/** Attached keys and their drivers, as the hardware service shows them. */
import { type Static, Type } from 'typebox';
import { route } from './define.ts';
import { deviceId, deviceStatus, deviceType } from './device-fields.ts';
import { endpoints } from './endpoints.ts';
import { nullable, oneOf, shown, timestamp } from './fields.ts';
import { driverStates, keyTransports, roles } from './values.ts';

/** A physical key that is plugged into the machine of the service. */
export const key = Type.Object({
  keyId: shown(
    'identifies one attachment of one key; a key that is unplugged and plugged in again gets a new one',
    'hid-1f3a9c',
  ),
  deviceType,
  serialNumber: nullable(shown('null if no serial number can be read: see problem', 'UK-2026-000001')),
  serialSource: nullable(shown('how the serial number was read', 'usb-descriptor')),
  manufacturer: nullable(shown('as the key reports it')),
  model: nullable(shown('as the key reports it')),
  hardwareVersion: nullable(shown('as the key reports it')),
  firmwareVersion: nullable(shown('as the key reports it')),
  transport: oneOf(keyTransports),
  reader: nullable(shown('name of the PC/SC reader')),
  vendorId: nullable(shown('USB vendor id, four hex digits', '096e')),
  productId: nullable(shown('USB product id, four hex digits', '0850')),
  attachedAt: timestamp('when it was plugged in'),
  simulated: Type.Boolean({ description: 'true for a key that exists in software only' }),
  problem: nullable(shown('why no serial number can be read and what to do')),
  device: nullable(
    Type.Object({ deviceId, status: deviceStatus }, { description: 'null if the serial number is not registered' }),
  ),
});
/** An attached key. `device` is its registration; null if its serial number is unknown or not registered. */
export type Key = Static<typeof key>;

/** State of one hardware driver. */
export const driverStatus = Type.Object({
  name: shown('driver', 'hid'),
  state: oneOf(driverStates),
  detail: shown('what is watched, or what is missing and how to fix it'),
});
/** State of one hardware driver. `detail` is a sentence for people. */
export type DriverStatus = Static<typeof driverStatus>;

/** Keys are listed in the order in which they were plugged in. */
export const listKeys = route({
  id: 'listKeys',
  ...endpoints.listKeys,
  tag: 'Hardware',
  summary: 'List the keys that are plugged into this machine',
  extension: true,
  access: [...roles, 'LOCAL'],
  limit: 'query',
  data: Type.Object({ list: Type.Array(key), drivers: Type.Array(driverStatus) }),
  errors: [],
});
