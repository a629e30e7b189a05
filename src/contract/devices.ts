import { Type } from 'typebox';
import { type Role, roles, route } from './define.ts';
import * as f from './device-fields.ts';
import { batchItem, deviceDetailData, deviceListItem, registration, stored } from './device-shapes.ts';
import { endpoints } from './endpoints.ts';

import { count, EACH, nullable, secret, shown, timestamp, token } from './fields.ts';
import { activationCodeDays, sizes } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { deviceSorts, immutableFields } from './values.ts';

export * from './device-shapes.ts';
export { immutableFields } from './values.ts';

const tag = 'Devices';
/** Who may change a device. */
export const changers = ['ADMIN', 'DEALER'] as const satisfies readonly Role[];

const params = Type.Object({ deviceId: token({ description: 'device id', examples: ['DEV-1'] }) });
const deviceIdBody = token({ description: 'device id', examples: ['DEV-1'] });
const serviceExample = {
  deviceType: 'UKEY',
  serialNumber: 'UK-2026-000001',
  manufacturer: 'Feitian',
  model: 'ePass K9',
};

export const registerDevice = route({
  id: 'registerDevice',
  ...endpoints.register,
  tag,
  summary: 'Register a device',
  description: 'Assigns a deviceId and an activation code. The device is INACTIVE until it is activated.',
  access: changers,
  limit: 'modify',
  body: registration,
  data: Type.Object({
    deviceId: f.deviceId,
    deviceType: f.deviceType,
    ...stored,
    status: f.deviceStatus,
    activationCode: f.activationCode,
    createdAt: timestamp('when it was registered'),
  }),
  errors: [2006],
  example: { body: { ...serviceExample, firmwareVersion: '1.0.3' } },
});

export const batchRegister = route({
  id: 'batchRegisterDevices',
  ...endpoints.batchRegister,
  tag,
  summary: 'Register up to 10,000 devices',
  description:
    'Answers 200 even where items fail. Results come in the order of the items. All accepted items are committed together or not at all; of two equal serials the first wins.',
  access: changers,
  limit: 'modify',
  bodyLimit: sizes.batchBody,
  body: Type.Object({
    devices: Type.Unsafe<readonly unknown[]>({
      ...Type.Array(registration, { minItems: 1, maxItems: sizes.batchItems }),
      [EACH]: true,
    }),
  }),
  data: Type.Object({
    total: count('items given'),
    success: count('items registered'),
    failed: count('items refused'),
    results: Type.Array(batchItem),
  }),
  errors: [],
  example: { body: { devices: [serviceExample, { ...serviceExample, serialNumber: 'UK-2026-000002' }] } },
});

export const activate = route({
  id: 'activateDevice',
  ...endpoints.activate,
  tag,
  summary: 'Activate a device and bind it to a user',
  access: changers,
  limit: 'modify',
  body: Type.Object({
    deviceId: deviceIdBody,
    activationCode: token({ description: 'activation code, in any case', examples: ['7KQM-2XWD-H9TB-C4RE'] }),
    userId: f.boundUser,
  }),
  data: Type.Object({
    deviceId: f.deviceId,
    status: f.deviceStatus,
    userId: shown('bound user'),
    activatedAt: timestamp('when it was activated'),
  }),
  errors: [2001, 2002, 2003, 2004, 2005],
});

export const lock = route({
  id: 'lockDevice',
  ...endpoints.lock,
  tag,
  summary: 'Lock an ACTIVE device',
  access: changers,
  limit: 'modify',
  params,
  body: Type.Object({ reason: f.reason, note: Type.Optional(nullable(f.note)) }),
  data: Type.Object({
    deviceId: f.deviceId,
    status: f.deviceStatus,
    lockedAt: timestamp('when it was locked'),
    lockReason: shown('why'),
  }),
  errors: [2001, 2004, 2005],
  example: { body: { reason: 'reported lost' } },
});

export const unlock = route({
  id: 'unlockDevice',
  ...endpoints.unlock,
  tag,
  summary: 'Unlock a LOCKED device',
  access: changers,
  limit: 'modify',
  params,
  body: Type.Object({ note: Type.Optional(nullable(f.note)) }),
  bodyOptional: true,
  data: Type.Object({ deviceId: f.deviceId, status: f.deviceStatus, unlockedAt: timestamp('when it was unlocked') }),
  errors: [2001, 2005],
  example: { body: { note: 'found again' } },
});

export const deactivate = route({
  id: 'deactivateDevice',
  ...endpoints.deactivate,
  tag,
  summary: 'Retire a device for good',
  description: 'Cannot be undone. confirmPassword is the own password of an ADMIN; a DEALER gives that of any ADMIN.',
  access: changers,
  limit: 'modify',
  params,
  body: Type.Object({
    reason: f.reason,
    note: Type.Optional(nullable(f.note)),
    confirmPassword: secret({ min: 1 }, { description: "an administrator's password" }),
  }),
  data: Type.Object({ deviceId: f.deviceId, status: f.deviceStatus, deactivatedAt: timestamp('when it was retired') }),
  errors: [1003, 2001, 2005],
  example: { body: { reason: 'worn out', confirmPassword: 'correct horse battery' } },
});

export const listDevices = route({
  id: 'listDevices',
  ...endpoints.listDevices,
  tag,
  summary: 'List devices',
  description:
    'Nulls come last in both orders; ties are broken by deviceId, so that paging never repeats or loses a row.',
  access: roles,
  limit: 'query',
  query: Type.Object({
    ...pageQuery(deviceSorts),
    deviceType: Type.Optional(f.deviceType),
    status: Type.Optional(f.deviceStatus),
    keyword: Type.Optional(
      token({ description: 'part of a deviceId or serial number, in any case', examples: ['2026-0000'] }),
    ),
    manufacturer: Type.Optional(token({ description: 'the whole manufacturer' })),
    userId: Type.Optional(token({ description: 'the whole user id' })),
  }),
  data: paged(deviceListItem),
  errors: [],
});

export const deviceDetail = route({
  id: 'getDevice',
  ...endpoints.deviceDetail,
  tag,
  summary: 'Show one device',
  access: roles,
  limit: 'query',
  params,
  data: deviceDetailData,
  errors: [2001],
});

export const updateDevice = route({
  id: 'updateDevice',
  ...endpoints.updateDevice,
  tag,
  summary: 'Change firmware version or note',
  description: `At least one of the two; null clears. ${immutableFields.join(', ')} cannot be changed: another value than the present one is 1001.`,
  access: changers,
  limit: 'modify',
  params,
  body: Type.Object({
    firmwareVersion: Type.Optional(nullable(f.version('firmware version'))),
    note: Type.Optional(nullable(f.note)),
  }),
  data: Type.Object({
    deviceId: f.deviceId,
    firmwareVersion: nullable(shown('firmware version')),
    note: nullable(shown('remark')),
    updatedAt: timestamp('when it was updated'),
  }),
  errors: [2001, 2004, 2005],
  example: { body: { firmwareVersion: '1.0.4', note: 'drawer 3' } },
});

export const generateActivationCode = route({
  id: 'generateActivationCode',
  ...endpoints.generateActivationCode,
  tag,
  summary: 'Replace the activation code',
  description: 'The previous code stops being valid at once.',
  access: changers,
  limit: 'modify',
  body: Type.Object({
    deviceId: deviceIdBody,
    validityDays: Type.Optional(
      Type.Integer({
        minimum: activationCodeDays.min,
        maximum: activationCodeDays.max,
        default: activationCodeDays.default,
        description: 'days the new code is good for',
      }),
    ),
    reason: f.reason,
  }),
  data: Type.Object({
    deviceId: f.deviceId,
    activationCode: f.activationCode,
    expiresAt: timestamp('until when the new code is good'),
    oldActivationCode: f.activationCode,
    generatedAt: timestamp('when the new code was made'),
  }),
  errors: [2001, 2005],
  example: { body: { deviceId: 'DEV-1', validityDays: 30, reason: 'code was lost' } },
});

export const recordUsage = route({
  id: 'recordUsage',
  ...endpoints.recordUsage,
  tag,
  summary: 'Record a use of an ACTIVE device',
  description: 'Raises totalUsageCount by one and totalUsageDuration by the seconds given; sets lastUsedAt.',
  extension: true,
  access: changers,
  limit: 'modify',
  params,
  body: Type.Object({
    durationSeconds: Type.Integer({ minimum: 0, maximum: 31_622_400, description: 'seconds of use, at most a year' }),
  }),
  data: Type.Object({
    deviceId: f.deviceId,
    totalUsageCount: count('times it was used'),
    totalUsageDuration: count('seconds it was used'),
    lastUsedAt: timestamp('when it was last used'),
  }),
  errors: [2001, 2004, 2005],
  example: { body: { durationSeconds: 95 } },
});
