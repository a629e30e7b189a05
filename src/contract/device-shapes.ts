/** Schemas of a device: at registration, in lists, and in full. */
import { type Static, type TSchema, Type } from 'typebox';
import { describedTexts, type OptionalText, optionalTexts } from './device-description.ts';
import * as f from './device-fields.ts';
import { notification } from './events.ts';
import { count, maybe, nullable, oneOf, shown, tagsOf, timestamp, token } from './fields.ts';
import { newIdentity } from './identity-shapes.ts';
import { personIds } from './ids.ts';
import { identities } from './key-values.ts';
import { proof } from './proof.ts';

/** Fields of every response that describes a device. */
export const identity = {
  serialNumber: shown('serial number', 'UK-2026-000001'),
  manufacturer: shown('manufacturer'),
  model: shown('model'),
};
const optional = <V extends TSchema>(create: (name: OptionalText) => V) =>
  Object.fromEntries(optionalTexts.map(name => [name, create(name)])) as Record<OptionalText, V>;
const versions = optional(name => maybe(f.versions[name]));
const shownVersions = optional(name => nullable(shown(describedTexts[name].label)));
const optionalTime = (description: string) => nullable(timestamp(description));
const maybeCode = nullable(f.activationCode);
const owner = nullable(
  Type.String({
    pattern: personIds.pattern,
    description: 'the person it belongs to; null for a VIEWER',
    examples: ['PER-1'],
  }),
);

/** Body of the registration of a device. */
export const registration = Type.Object({
  deviceType: f.deviceType,
  serialNumber: f.newSerialNumber,
  manufacturer: f.manufacturer,
  model: f.model,
  ...versions,
  tags: Type.Optional(tagsOf('tags of the device')),
  proofId: maybe(
    token({ description: 'challenge that this key has answered; absent: the last answer for the serial number' }),
  ),
  identity: maybe(newIdentity),
});
/** A registration after validation. An absent version stays absent, an empty one is null. */
export type Registration = Static<typeof registration>;

/** A device of a batch. */
export const batchRegistration = Type.Object({
  ...registration.properties,
  userId: maybe(f.firstUser),
});
/** A device of a batch after validation. */
export type BatchRegistration = Static<typeof batchRegistration>;

/** The result for one item of a batch. */
export const batchItem = Type.Object({
  serialNumber: nullable(shown('serial number as it was sent; null if there was none')),
  deviceId: Type.Optional(f.deviceId),
  activationCode: Type.Optional(f.activationCode),
  status: oneOf(['success', 'failed'] as const),
  message: shown('what happened to the item'),
  code: Type.Optional(Type.Integer({ description: 'business code of a failed item' })),
  deviceStatus: Type.Optional(oneOf(['ACTIVE'] as const, { description: 'present if the item has a userId' })),
});
/** The result for one item of a batch. A failed item has no deviceId and no activationCode. */
export type BatchItem = Static<typeof batchItem>;

/** A device in a list. */
export const deviceListItem = Type.Object({
  deviceId: f.deviceId,
  deviceType: f.deviceType,
  ...identity,
  status: f.deviceStatus,
  userId: nullable(shown('bound user')),
  personId: owner,
  activationCode: maybeCode,
  createdAt: timestamp('when it was registered'),
  activatedAt: optionalTime('when it was activated'),
  lastUsedAt: optionalTime('when it was last used'),
  tags: tagsOf('tags, sorted by name; {} if it has none'),
  proof: nullable(proof),
});
/** A device in a list. `activationCode` is null for a VIEWER. */
export type DeviceListItem = Static<typeof deviceListItem>;

/** A device in full. */
export const deviceDetailData = Type.Object({
  deviceId: f.deviceId,
  deviceType: f.deviceType,
  ...identity,
  ...shownVersions,
  status: f.deviceStatus,
  userId: nullable(shown('bound user')),
  personId: owner,
  userName: nullable(shown('name of the bound user, if that is a user of this system')),
  userEmail: nullable(
    shown('e-mail address of the bound user, if that is a user of this system; null for every role but ADMIN'),
  ),
  activationCode: maybeCode,
  activationCodeExpiresAt: optionalTime('when the activation code expires'),
  note: nullable(shown('remark')),
  createdAt: timestamp('when it was registered'),
  activatedAt: optionalTime('when it was activated'),
  lastUsedAt: optionalTime('when it was last used'),
  lockReason: nullable(shown('why it is locked')),
  lockedAt: optionalTime('when it was locked'),
  deactivatedAt: optionalTime('when it was deactivated'),
  shippedAt: optionalTime('when it was last sent to its person'),
  receivedAt: optionalTime('when a touch of the key confirmed that it has arrived; null while it is on its way'),
  updatedAt: optionalTime('when it was last updated'),
  tags: tagsOf('tags, sorted by name; {} if it has none'),
  proof: nullable(proof),
  identity: oneOf(identities, {
    description:
      'what it is known by. serial: its serial number; credential: one that its key has made for this registry; none: the key has lost its credential in a reset, and no key reports its number',
  }),
  identityProvedAt: optionalTime('when its key last proved with its credential, and a touch, that it is this device'),
  version: f.version,
  statistics: Type.Object({
    totalUsageCount: count('number of uses'),
    totalUsageDuration: count('total duration of use in seconds'),
    backupCount: count('number of stored backups'),
    lastBackupAt: optionalTime('when the last backup was uploaded'),
  }),
  events: Type.Optional(
    Type.Array(notification, {
      description: 'its newest events, the newest first; present if the request has `events`',
    }),
  ),
});
/** A device in full. `activationCode` is null for a VIEWER; `totalUsageDuration` is in seconds. */
export type DeviceDetail = Static<typeof deviceDetailData>;
