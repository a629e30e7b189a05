/** The fields of a device, each with its rule. */
import { Type } from 'typebox';
import { line, oneOf, prose } from './fields.ts';
import { deviceIds } from './ids.ts';
import { activationAlphabet, deviceStatuses, deviceTypes, textShapes } from './values.ts';

export { activationAlphabet, type DeviceStatus, type DeviceType, deviceStatuses, deviceTypes } from './values.ts';

export const deviceType = oneOf(deviceTypes, { description: 'UKEY: a USB security key; SIMKEY: a SIM-based key' });
export const deviceStatus = oneOf(deviceStatuses, { description: 'DEACTIVATED is for good' });

export const serialNumber = line(64, {
  ...textShapes.serialNumber,
  description: 'serial number, unique across devices, case-sensitive',
  examples: ['UK-2026-000001'],
});
export const manufacturer = line(200, { description: 'manufacturer', examples: ['Feitian'] });
export const model = line(200, { description: 'device model', examples: ['ePass K9'] });
export const version = (what: string) => line(64, { description: what, examples: ['1.0.3'] });
export const note = prose(1000, { description: 'free-text remark' });
export const reason = line(200, { description: 'why; kept in the audit log', examples: ['reported lost'] });
/** The user a device is bound to: anybody's id, not only that of a user of this system. */
export const boundUser = line(64, { description: 'user the device is bound to', examples: ['alice'] });
export const deviceId = Type.String({
  pattern: deviceIds.pattern,
  description: 'assigned at registration',
  examples: ['DEV-1'],
});
export const activationCode = Type.String({
  pattern: `^([${activationAlphabet}]{4}-){3}[${activationAlphabet}]{4}$`,
  description: 'four groups of four characters; accepted in any case',
  examples: ['7KQM-2XWD-H9TB-C4RE'],
});
