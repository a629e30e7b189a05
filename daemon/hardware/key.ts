import type { AttachedKey } from '../../drivers/driver.ts';
import type { Key } from '../../src/contract/hardware.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import type { DeviceRecord } from '../domain/device.ts';

export type Registration = Pick<DeviceRecord, 'number' | 'status'>;

/** A key as the interface shows it; `registration` is that of its serial, where there is one. */
export function presentKey(key: AttachedKey, registration: Registration | undefined): Key {
  return {
    keyId: key.keyId,
    deviceType: key.deviceType,
    serialNumber: key.serialNumber,
    serialSource: key.serialSource,
    manufacturer: key.manufacturer,
    model: key.model,
    hardwareVersion: key.hardwareVersion,
    firmwareVersion: key.firmwareVersion,
    transport: key.transport,
    reader: key.reader,
    vendorId: key.vendorId,
    productId: key.productId,
    attachedAt: new Date(key.attachedAt).toISOString(),
    simulated: key.simulated,
    problem: key.problem,
    device: registration ? { deviceId: deviceIds.format(registration.number), status: registration.status } : null,
  };
}
