/** Notifications: the kinds of event, who may see them, and what each carries. Never a code, a password or a token. */
import { type TObject, Type } from 'typebox';
import { deviceType } from './device-fields.ts';
import { oneOf, timestamp } from './fields.ts';
import { deviceIds, versionIds } from './ids.ts';
import { key } from './key.ts';
import { type EventType, eventTypes, type HardwareEventType, type JournalEventType } from './values.ts';

export {
  closeCodes,
  type EventType,
  eventTypes,
  type HardwareEventType,
  hardwareEventTypes,
  type JournalEventType,
  journalEventTypes,
  stream,
} from './values.ts';

const deviceId = Type.String({ pattern: deviceIds.pattern });
const device = { deviceId, deviceType };

/** Events of the journal: replayable, with an id. */
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
} as const satisfies Record<JournalEventType, TObject>;

/** Events of the hardware service: live only, without an id. */
export const hardwareEvents = {
  KEY_ATTACHED: key,
  KEY_DETACHED: key,
} as const satisfies Record<HardwareEventType, TObject>;

/** A frame of the stream. */
export const notification = Type.Object({
  id: Type.Optional(Type.Integer({ minimum: 1, description: "the event's place in the journal; absent for KEY_*" })),
  type: oneOf(eventTypes, { description: 'kind of event' }),
  timestamp: timestamp('when it happened'),
  data: Type.Object({}, { additionalProperties: true, description: 'depends on type' }),
});

export interface Notification {
  readonly id?: number;
  readonly type: EventType;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}
