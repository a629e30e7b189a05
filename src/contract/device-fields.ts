/** The fields of a device, each with its rule. */
import { Type } from 'typebox';
import { forEachText } from './device-description.ts';
import { line, oneOf, prose } from './fields.ts';
import { deviceIds } from './ids.ts';
import { textLengths } from './limits.ts';
import { activationAlphabet, deviceStatuses, deviceTypes, textShapes } from './values.ts';

/** UKEY or SIMKEY. */
export const deviceType = oneOf(deviceTypes, { description: 'UKEY: a USB security key; SIMKEY: a SIM-based key' });
/** INACTIVE, ACTIVE, LOCKED or DEACTIVATED. */
export const deviceStatus = oneOf(deviceStatuses, { description: 'DEACTIVATED is permanent' });

const serialOf = (shape: typeof textShapes.serialNumber | typeof textShapes.newSerialNumber) =>
  line(textLengths.serialNumber, {
    ...shape,
    description: 'serial number, unique across devices, case-sensitive',
    examples: ['UK-2026-000001'],
  });
/** Serial number of a device. Earlier versions have registered some that look like ids. */
export const serialNumber = serialOf(textShapes.serialNumber);
/** Unique across all devices, including deactivated ones; a duplicate is refused with 2006. */
export const newSerialNumber = serialOf(textShapes.newSerialNumber);
/** The texts that describe a device. */
const { manufacturer, model, ...versions } = forEachText(({ label, max, example }) =>
  line(max, { description: label, examples: [example] }),
);

export { manufacturer, model, versions };
/** A remark; may have several lines. */
export const note = prose(textLengths.note, { description: 'free-text remark' });
/** The reason for a change, stored in the journal. */
export const reason = line(textLengths.reason, {
  description: 'why; stored in the journal',
  examples: ['reported lost'],
});
/** The user a device is bound to: any id, not only that of a user of this system. */
export const boundUser = line(textLengths.userId, { description: 'user the device is bound to', examples: ['alice'] });
/** The user of a device that is in use already. */
export const firstUser = line(textLengths.userId, {
  description: 'user who has the device already: it is registered and bound to this user, ACTIVE; absent: INACTIVE',
  examples: ['alice'],
});
/** Identifier of a device, in a response. */
export const deviceId = Type.String({
  pattern: deviceIds.pattern,
  description: 'assigned at registration',
  examples: ['DEV-1'],
});
/** Version of a device, in a response. */
export const version = Type.Integer({
  minimum: 1,
  description:
    'of the device: increases with each change of its details, except a use; the header ETag has it in quotes',
  examples: [3],
});
/** Activation code, in a response. */
export const activationCode = Type.String({
  pattern: `^([${activationAlphabet}]{4}-){3}[${activationAlphabet}]{4}$`,
  description: 'four groups of four characters; case-insensitive',
  examples: ['7KQM-2XWD-H9TB-C4RE'],
});
