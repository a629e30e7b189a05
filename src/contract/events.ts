/** Notifications: the data of each type of event. No event carries an activation code, a password or a token. */
import { type TObject, type TSchema, Type } from 'typebox';
import { type AdministrationEvent, administrationEventTable } from './administration-events.ts';
import { deviceType } from './device-fields.ts';
import {
  type EventField,
  type EventType,
  eventTypes,
  type HardwareEventType,
  type JournalEvent,
  journalEventTable,
} from './event-types.ts';
import { boolean, count, nullable, oneOf, shown, timestamp, whole } from './fields.ts';
import { key } from './hardware.ts';
import { deviceIds, personIds, versionIds } from './ids.ts';
import { receiptKinds } from './key-values.ts';
import { caseEnds, caseKinds, personSources, provisioningSources } from './person-values.ts';
import type { Tags } from './tags.ts';
import { type ActorKind, actorKinds } from './values.ts';

const deviceId = Type.String({ pattern: deviceIds.pattern });
const fieldSchemas: Readonly<Record<EventField, TSchema>> = {
  deviceId,
  deviceType,
  versionId: Type.String({ pattern: versionIds.pattern }),
  personId: Type.String({ pattern: personIds.pattern }),
  personSource: oneOf(personSources),
  provisioningSource: oneOf(provisioningSources),
  activeDevices: count('ACTIVE devices of the person at that time'),
  lockedDevices: Type.Array(deviceId, { description: 'devices that were locked because the person had left' }),
  receiptKind: oneOf(receiptKinds),
  loanEnd: timestamp('when the loan ended'),
  sentAt: timestamp('when it was sent to its person'),
  identityChange: oneOf(['bound', 'proved', 'lost']),
  caseKind: oneOf(caseKinds),
  caseEnd: oneOf(caseEnds),
  figure: count('see `GET /api/people/check`'),
  text: Type.String(),
};

/** Data of the events of the journal. */
export const journalEvents = Object.entries<JournalEvent>(journalEventTable).map(
  ([type, { data }]): [string, TObject] => [
    type,
    Type.Object(Object.fromEntries(Object.entries(data).map(([name, field]) => [name, fieldSchemas[field]]))),
  ],
);

/** Data of the events of administration. */
export const administrationEvents = Object.entries<AdministrationEvent>(administrationEventTable).map(
  ([type, { data }]): [string, TObject] => [
    type,
    Type.Object(Object.fromEntries(data.map(name => [name, nullable(Type.String())]))),
  ],
);

/** Data of the events of attached keys. They have no id and cannot be replayed. */
export const hardwareEvents = {
  KEY_ATTACHED: key,
  KEY_DETACHED: Type.Object({
    ...key.properties,
    unplugged: boolean(
      'false if its driver became unavailable: the key is not monitored then, and can still be plugged in',
    ),
  }),
} as const satisfies Record<HardwareEventType, TObject>;

const fieldValue = (description: string) =>
  Type.Unsafe<string | Tags | null>({ description: `${description}; tags are an object; null if it has none` });

/** Schema of a frame of the stream, whatever its type. */
export const notification = Type.Object({
  id: Type.Optional(whole('position of the event in the journal, ascending; absent for KEY_*', { min: 1 })),
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
      {
        description:
          'of DEVICE_UPDATED and of events of administration: the fields that changed; of a long text only the first 200 characters, then …; of a secret only `changed`',
      },
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
  /** Of DEVICE_UPDATED and of events of administration: the fields that changed. */
  readonly changes?: FieldChange[];
}
