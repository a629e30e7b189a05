import { Type } from 'typebox';
import { batchData, batchOf } from './batch-shapes.ts';
import { Code } from './codes.ts';
import { operations } from './define.ts';
import * as f from './device-fields.ts';
import { batchItem, batchRegistration, deviceDetailData, identity, registration } from './device-shapes.ts';
import { count, maybe, nullable, secret, shown, tagChanges, tagsOf, timestamp, token, whole } from './fields.ts';
import { activationCodeDays, bodyBounds, eventPage, longestUse, sizes, tagBounds } from './limits.ts';
import { changers, immutableFields, roles } from './values.ts';

export * from './device-lists.ts';
export * from './device-shapes.ts';

const params = Type.Object({ deviceId: token({ description: 'device id', examples: ['DEV-1'] }) });
const deviceIdBody = token({ description: 'device id', examples: ['DEV-1'] });
const serviceExample = {
  deviceType: 'UKEY',
  serialNumber: 'UK-2026-000001',
  manufacturer: 'Feitian',
  model: 'ePass K9',
};

/** Operations on single devices, and registration. */
export const deviceOperations = operations('Devices', {
  /** A serial number that is already registered is refused with 2006, so a repeated request registers nothing twice. */
  registerDevice: {
    summary: 'Register a device',
    description: 'Assigns a deviceId and an activation code. The device is INACTIVE until it is activated.',
    access: changers,
    body: registration,
    data: Type.Object({
      deviceId: f.deviceId,
      deviceType: f.deviceType,
      ...identity,
      status: f.deviceStatus,
      activationCode: f.activationCode,
      createdAt: timestamp('when it was registered'),
      version: f.version,
    }),
    errors: [Code.serialDuplicated],
    example: { body: { ...serviceExample, firmwareVersion: '1.0.3' } },
  },

  /** Repeating the request fails each item that was registered before; it changes nothing. */
  batchRegisterDevices: {
    summary: 'Register up to 10,000 devices',
    description:
      'Returns 200 even if items fail. Results are in the order of the items. All accepted items are committed together or not at all. Of two equal serial numbers, the first is registered. An item with userId is a device that is in use already: it is registered and activated in one step, under the conditions of an activation but without a code, and its result has deviceStatus.',
    access: changers,
    bodyLimit: sizes.batchBody,
    bodyValues: bodyBounds.manyValues,
    batchOf: 'devices',
    body: Type.Object({
      devices: batchOf(batchRegistration, sizes.batchItems),
    }),
    data: batchData('number of registered items', batchItem),
    example: {
      body: { devices: [serviceExample, { ...serviceExample, serialNumber: 'UK-2026-000002', userId: 'alice' }] },
    },
  },

  /** Of two simultaneous activations exactly one succeeds; the other gets 2002. Each check in turn: 2001, state, code. */
  activateDevice: {
    summary: 'Activate a device and bind it to a user',
    access: changers,
    body: Type.Object({
      deviceId: deviceIdBody,
      // As long as any body: a code of a wrong length is wrong (2003), not an invalid parameter.
      activationCode: token(
        { description: 'activation code, case-insensitive', examples: ['7KQM-2XWD-H9TB-C4RE'] },
        sizes.batchBody,
      ),
      userId: f.boundUser,
    }),
    data: Type.Object({
      deviceId: f.deviceId,
      status: f.deviceStatus,
      userId: shown('bound user'),
      activatedAt: timestamp('when it was activated'),
      version: f.version,
    }),
    errors: [
      Code.deviceNotFound,
      Code.alreadyActivated,
      Code.activationCodeInvalid,
      Code.deviceLocked,
      Code.deviceDeactivated,
      412,
    ],
  },

  /** An INACTIVE device is refused with 1001. */
  lockDevice: {
    summary: 'Lock an ACTIVE device',
    access: changers,
    params,
    body: Type.Object({ reason: f.reason, note: maybe(f.note) }),
    data: Type.Object({
      deviceId: f.deviceId,
      status: f.deviceStatus,
      lockedAt: timestamp('when it was locked'),
      lockReason: shown('the reason'),
      version: f.version,
    }),
    errors: [Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated, 412],
    example: { body: { reason: 'reported lost' } },
  },

  /** A device that is not LOCKED is refused with 1001. Clears lockReason and lockedAt. */
  unlockDevice: {
    summary: 'Unlock a LOCKED device',
    description: 'A device of a person who has left is unlocked by an ADMIN only (2007).',
    access: changers,
    params,
    body: Type.Object({ note: maybe(f.note) }),
    bodyOptional: true,
    data: Type.Object({
      deviceId: f.deviceId,
      status: f.deviceStatus,
      unlockedAt: timestamp('when it was unlocked'),
      version: f.version,
    }),
    errors: [Code.deviceNotFound, Code.deviceDeactivated, 412],
    example: { body: { note: 'found again' } },
  },

  /** Allowed from every other state, LOCKED included: a stolen key can be retired without being usable first. */
  deactivateDevice: {
    summary: 'Deactivate a device permanently',
    description:
      'Cannot be undone. confirmPassword is the password of the calling ADMIN; a DEALER sends that of any enabled ADMIN.',
    access: changers,
    params,
    body: Type.Object({
      reason: f.reason,
      note: maybe(f.note),
      confirmPassword: secret({ min: 1 }, { description: "an administrator's password" }),
    }),
    data: Type.Object({
      deviceId: f.deviceId,
      status: f.deviceStatus,
      deactivatedAt: timestamp('when it was deactivated'),
      version: f.version,
    }),
    errors: [Code.wrongPassword, Code.deviceNotFound, Code.deviceDeactivated, 412],
    example: { body: { reason: 'worn out', confirmPassword: 'correct horse battery' } },
  },

  /** A fact beside the state of the device. A second shipment replaces the first one. */
  shipDevice: {
    summary: 'Record that an ACTIVE device was sent to its person',
    description:
      '`receivedAt` of the device is null from then on, until a receipt of the kind handover or loan is signed with the key: at a desk, or by the person (`POST /api/me/devices/{deviceId}/received`).',
    extension: true,
    access: changers,
    // A desk sends many keys in a row, and the state of a key stays as it is.
    limit: 'query',
    params,
    data: Type.Object({
      deviceId: f.deviceId,
      status: f.deviceStatus,
      shippedAt: timestamp('when it was sent'),
      version: f.version,
    }),
    errors: [Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated, 412],
  },

  /** The only operation that returns userName, userEmail, version and statistics. The header ETag has the version in quotes. */
  getDevice: {
    summary: 'Show one device',
    access: roles,
    params,
    query: Type.Object({
      events: Type.Optional(
        whole('how many of its newest events to return as `events`; absent: none', { min: 1, max: eventPage.default }),
      ),
    }),
    data: deviceDetailData,
    errors: [Code.deviceNotFound],
  },

  /** An absent field keeps its value. */
  updateDevice: {
    summary: 'Change the firmware version, the note or tags',
    description: `At least one field is required; null clears firmwareVersion and note. userId is the name of the account to whose id the device is bound: then it is bound to the name; any other value is ignored. Tags that are not named stay, and null removes a tag; a device has at most ${tagBounds.perDevice}. ${immutableFields.join(', ')} cannot be changed: a value other than the current one is refused with 1001.`,
    access: changers,
    params,
    body: Type.Object({
      firmwareVersion: maybe(f.versions.firmwareVersion),
      note: maybe(f.note),
      tags: Type.Optional(tagChanges('tags to set, and null for each tag to remove')),
      userId: Type.Optional(f.boundUser),
    }),
    data: Type.Object({
      deviceId: f.deviceId,
      firmwareVersion: nullable(shown('firmware version')),
      note: nullable(shown('remark')),
      tags: tagsOf('all tags after the change'),
      updatedAt: timestamp('when it was updated'),
      version: f.version,
    }),
    errors: [Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated, 412],
    example: { body: { firmwareVersion: '1.0.4', note: 'drawer 3', tags: { lot: '7' } } },
  },

  /** Allowed for ACTIVE and LOCKED devices too: the code then serves a later activation only. */
  generateActivationCode: {
    summary: 'Replace the activation code',
    description: 'The previous code is invalid from then on.',
    access: changers,
    body: Type.Object({
      deviceId: deviceIdBody,
      validityDays: Type.Optional(whole('days for which the new code is valid', activationCodeDays)),
      reason: f.reason,
    }),
    data: Type.Object({
      deviceId: f.deviceId,
      activationCode: f.activationCode,
      expiresAt: timestamp('when the new code expires'),
      oldActivationCode: f.activationCode,
      generatedAt: timestamp('when the new code was generated'),
      version: f.version,
    }),
    errors: [Code.deviceNotFound, Code.deviceDeactivated, 412],
    example: { body: { deviceId: 'DEV-1', validityDays: 30, reason: 'code was lost' } },
  },

  /** An INACTIVE device is refused with 1001. Not idempotent. */
  recordUsage: {
    summary: 'Record a use of an ACTIVE device',
    description: 'Adds one to totalUsageCount and durationSeconds to totalUsageDuration, and sets lastUsedAt.',
    extension: true,
    access: changers,
    params,
    body: Type.Object({
      durationSeconds: whole('seconds of use, at most 366 days', { min: 0, max: longestUse }),
    }),
    data: Type.Object({
      deviceId: f.deviceId,
      totalUsageCount: count('number of uses'),
      totalUsageDuration: count('total duration of use in seconds'),
      lastUsedAt: timestamp('when it was last used'),
      version: f.version,
    }),
    errors: [Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated, 412],
    example: { body: { durationSeconds: 95 } },
  },
});
