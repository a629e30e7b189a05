/** Notifications: the data of each type of event. No event carries an activation code, a password or a token. */
import { type TObject, Type } from 'typebox';
import { deviceType } from './device-fields.ts';
import { count, oneOf, shown, timestamp } from './fields.ts';
import { key } from './hardware.ts';
import { deviceIds, personIds, versionIds } from './ids.ts';
import type { Tags } from './tags.ts';
import {
  type ActorKind,
  actorKinds,
  type EventType,
  eventTypes,
  type HardwareEventType,
  type JournalEventType,
  personSources,
  provisioningSources,
  receiptKinds,
} from './values.ts';

const deviceId = Type.String({ pattern: deviceIds.pattern });
const device = { deviceId, deviceType };
const person = { personId: Type.String({ pattern: personIds.pattern }), source: oneOf(personSources) };
const leaver = { ...person, devices: count('ACTIVE devices of the person at that time') };

/** Data of the events of the journal. They have an id and can be replayed. */
export const journalEvents = {
  DEVICE_REGISTERED: Type.Object({ ...device, serialNumber: Type.String() }),
  DEVICE_ACTIVATED: Type.Object({ ...device, userId: Type.String() }),
  DEVICE_LOCKED: Type.Object({ ...device, lockReason: Type.String() }),
  DEVICE_UNLOCKED: Type.Object(device),
  DEVICE_DEACTIVATED: Type.Object(device),
  DEVICE_UPDATED: Type.Object(device),
  ACTIVATION_CODE_GENERATED: Type.Object(device),
  APP_VERSION_UPLOADED: Type.Object({
    versionId: Type.String({ pattern: versionIds.pattern }),
    platform: Type.String(),
    version: Type.String(),
  }),
  PERSON_LEFT: Type.Object(leaver),
  PERSON_HELD: Type.Object(leaver),
  PERSON_RETURNED: Type.Object({
    ...person,
    lockedDevices: Type.Array(deviceId, { description: 'devices that were locked because the person had left' }),
  }),
  PROVISIONING_REFUSED: Type.Object({ source: oneOf(provisioningSources) }),
  RECEIPT_SIGNED: Type.Object({ ...device, receiptId: Type.String(), kind: oneOf(receiptKinds) }),
  LOAN_OVERDUE: Type.Object({ ...device, receiptId: Type.String(), dueAt: timestamp('when the loan ended') }),
} as const satisfies Record<JournalEventType, TObject>;

/** Data of the events of attached keys. They have no id and cannot be replayed. */
export const hardwareEvents = {
  KEY_ATTACHED: key,
  KEY_DETACHED: Type.Object({
    ...key.properties,
    unplugged: Type.Boolean({
      description: 'false if its driver became unavailable: the key is no longer watched, and may still be plugged in',
    }),
  }),
} as const satisfies Record<HardwareEventType, TObject>;

const fieldValue = (description: string) =>
  Type.Unsafe<string | Tags | null>({ description: `${description}; tags are an object; null if it has none` });

/** Schema of a frame of the stream, whatever its type. */
export const notification = Type.Object({
  id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'position of the event in the journal, ascending; absent for KEY_*' }),
  ),
  type: oneOf(eventTypes, { description: 'type of event' }),
  timestamp: timestamp('when it happened'),
  data: Type.Object({}, { additionalProperties: true, description: 'depends on type' }),
  actor: Type.Optional(
    Type.Object(
      {
        name: shown('user name, token:NAME of a service token, or devmgr', 'admin'),
        kind: oneOf(actorKinds),
      },
      { description: 'who did it; for the role ADMIN only, and absent for KEY_*' },
    ),
  ),
  changes: Type.Optional(
    Type.Array(
      Type.Object({
        field: shown('name of the field', 'firmwareVersion'),
        before: fieldValue('earlier value'),
        after: fieldValue('new value'),
      }),
      { description: 'of DEVICE_UPDATED: the fields that changed; of a note only the first 200 characters, then …' },
    ),
  ),
});

/** Who made a change. */
export interface EventActor {
  readonly name: string;
  readonly kind: ActorKind;
}

/** A field that an update has changed. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | Tags | null;
  readonly after: string | Tags | null;
}

/** A frame of the stream. */
export interface Notification {
  /** Position of the event in the journal; absent for KEY_*. */
  readonly id?: number;
  readonly type: EventType;
  /** ISO 8601 UTC. */
  readonly timestamp: string;
  /** Depends on `type`: see `journalEvents` and `hardwareEvents`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** For the role ADMIN; absent for KEY_*. */
  readonly actor?: EventActor;
  /** Of DEVICE_UPDATED: the fields that changed. */
  readonly changes?: FieldChange[];
}
