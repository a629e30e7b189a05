/** A physical key as the hardware service shows it. */
import { Type } from 'typebox';
import { deviceId, deviceStatus, deviceType } from './device-fields.ts';
import { nullable, oneOf, shown, timestamp } from './fields.ts';
import { driverStates, keyTransports } from './values.ts';

export const key = Type.Object({
  keyId: shown('names one plugging of one key; a key that is pulled and put back gets a new one', 'hid-1f3a9c'),
  deviceType,
  serialNumber: nullable(shown('null where no serial can be read: see problem', 'UK-2026-000001')),
  serialSource: nullable(shown('how the serial was read', 'usb-descriptor')),
  manufacturer: nullable(shown('as the key tells it')),
  model: nullable(shown('as the key tells it')),
  hardwareVersion: nullable(shown('as the key tells it')),
  firmwareVersion: nullable(shown('as the key tells it')),
  transport: oneOf(keyTransports),
  reader: nullable(shown('name of the PC/SC reader')),
  vendorId: nullable(shown('USB vendor id, four hex digits', '096e')),
  productId: nullable(shown('USB product id, four hex digits', '0850')),
  attachedAt: timestamp('when it was plugged in'),
  simulated: Type.Boolean({ description: 'true for a key that exists in software alone' }),
  problem: nullable(shown('why no serial can be read and what to do')),
  device: nullable(
    Type.Object({ deviceId, status: deviceStatus }, { description: 'null where the serial is not registered' }),
  ),
});

export const driverStatus = Type.Object({
  name: shown('driver', 'hid'),
  state: oneOf(driverStates),
  detail: shown('what is watched, or what is missing and how to mend it'),
});
