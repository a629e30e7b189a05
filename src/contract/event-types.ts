/**
 * The types of events. The schemas of their data, the documents, the words and colors of the command line, what a change is found
 * by and what an entry proves are made from these rows. Plain data, without schemas.
 */
import {
  type AdministrationEventType,
  administrationEventTable,
  administrationEventTypes,
} from './administration-events.ts';
import type { EventWords } from './event-words.ts';
import type { BatchOperation, DeviceStatus } from './values.ts';

/** Kinds of fields in the data of an event. */
export type EventField =
  | 'deviceId'
  | 'deviceType'
  | 'versionId'
  | 'personId'
  | 'personSource'
  | 'provisioningSource'
  | 'activeDevices'
  | 'lockedDevices'
  | 'receiptKind'
  | 'loanEnd'
  | 'sentAt'
  | 'identityChange'
  | 'caseKind'
  | 'caseEnd'
  | 'figure'
  | 'text';

/** A type of event in the journal that everyone sees: those of administration have a table of their own. */
export interface JournalEvent extends EventWords {
  readonly data: Readonly<Record<string, EventField>>;
  /** Kind of the subject of the entry, besides a device. */
  readonly subject?: 'version' | 'person' | 'receipt';
  /** State of the device after it. Events without one leave the state as it is. */
  readonly status?: DeviceStatus;
  /** The operation that makes it. */
  readonly operation?: BatchOperation;
  /** The entry has earlier and new values, which the stream shows as `changes`. */
  readonly hasChanges?: true;
  /** The device has a new activation code. */
  readonly hasCode?: true;
  /** It is the first entry of the device. */
  readonly isFirst?: true;
}

const device = { deviceId: 'deviceId', deviceType: 'deviceType' } as const;
const person = { personId: 'personId', source: 'personSource' } as const;
const leaver = { ...person, devices: 'activeDevices' } as const;

/** Events of the journal. They have an id and can be replayed. A new one comes last. */
export const journalEventTable = {
  DEVICE_REGISTERED: {
    data: { ...device, serialNumber: 'text' },
    title: 'registered',
    words: 'registered ({deviceType})',
    style: 'cyan',
    status: 'INACTIVE',
    hasCode: true,
    isFirst: true,
  },
  DEVICE_ACTIVATED: {
    data: { ...device, userId: 'text' },
    title: 'activated',
    words: 'activated[ for {userId}]',
    style: 'green',
    status: 'ACTIVE',
    operation: 'ACTIVATE',
  },
  DEVICE_LOCKED: {
    data: { ...device, lockReason: 'text' },
    title: 'locked',
    words: 'locked[: {lockReason}]',
    style: 'red',
    status: 'LOCKED',
    operation: 'LOCK',
  },
  DEVICE_UNLOCKED: {
    data: device,
    words: 'unlocked',
    style: 'green',
    status: 'ACTIVE',
    operation: 'UNLOCK',
  },
  DEVICE_DEACTIVATED: {
    data: device,
    words: 'deactivated',
    style: 'red',
    status: 'DEACTIVATED',
    operation: 'DEACTIVATE',
  },
  DEVICE_UPDATED: {
    data: device,
    title: 'updated',
    words: 'updated[: {changes}]',
    operation: 'UPDATE',
    hasChanges: true,
  },
  ACTIVATION_CODE_GENERATED: {
    data: device,
    words: 'new activation code',
    operation: 'GENERATE_CODE',
    hasCode: true,
  },
  APP_VERSION_UPLOADED: {
    data: { versionId: 'versionId', platform: 'text', version: 'text' },
    subject: 'version',
    title: 'package uploaded',
    words: 'uploaded: {platform} {version}',
  },
  PERSON_LEFT: { data: leaver, subject: 'person', title: 'person has left', words: 'has left ({source}), {devices}' },
  PERSON_HELD: {
    data: leaver,
    subject: 'person',
    title: 'leaver held: devices await a release',
    words: 'held, {devices}: devmgr people leave held',
  },
  PERSON_RETURNED: {
    data: { ...person, lockedDevices: 'lockedDevices' },
    subject: 'person',
    title: 'person is back',
    words: 'is back: locked devices stay locked',
  },
  PROVISIONING_REFUSED: {
    data: { source: 'provisioningSource' },
    title: 'a provisioning request was not stored as sent',
    words: '{source}: a request was not stored as sent: devmgr people refused',
  },
  RECEIPT_SIGNED: {
    data: { ...device, receiptId: 'text', kind: 'receiptKind' },
    subject: 'receipt',
    title: 'receipt signed',
    words: 'receipt signed: {kind} ({receiptId})',
  },
  LOAN_OVERDUE: {
    data: { ...device, receiptId: 'text', dueAt: 'loanEnd' },
    subject: 'receipt',
    title: 'loan is overdue',
    words: 'loan overdue since {dueAt} ({receiptId})',
    style: 'yellow',
  },
  DEVICE_IDENTITY: {
    data: { ...device, change: 'identityChange' },
    title: 'credential of the key bound, proved or lost',
    words: 'credential of its key {change}',
  },
  CASE_OPENED: {
    data: person,
    subject: 'person',
    title: 'case of a leaver opened',
    words: 'case opened: devmgr people case {personId}',
  },
  CASE_OVERDUE: {
    data: { ...person, kind: 'caseKind', itemId: 'text' },
    subject: 'person',
    title: 'case of a leaver has an overdue item',
    words: 'case overdue: {kind} {itemId}',
    style: 'yellow',
  },
  PEOPLE_CHECKED: {
    data: {
      devices: 'figure',
      accounts: 'figure',
      tokens: 'figure',
      credentials: 'figure',
      unmatched: 'figure',
      unreported: 'figure',
      drift: 'figure',
      unerased: 'figure',
    },
    title: 'figures of the standing check have changed',
    words:
      'persons checked: devices {devices}, accounts {accounts}, tokens {tokens}, credentials {credentials} of leavers: devmgr doctor',
    style: 'yellow',
  },
  CASE_CLOSED: {
    data: { ...person, end: 'caseEnd' },
    subject: 'person',
    title: 'case of a leaver ended',
    words: 'case ended: {end}',
    style: 'green',
  },
  DEVICE_SHIPPED: { data: device, words: 'sent to its person', style: 'cyan' },
  DEVICE_LOST: {
    data: { ...device, reason: 'text' },
    title: 'reported lost by its person',
    words: 'reported lost by its person[: {reason}]',
    style: 'red',
  },
  SHIPMENT_OVERDUE: {
    data: { ...device, shippedAt: 'sentAt' },
    title: 'arrival is not confirmed',
    words: 'sent to its person {shippedAt}, arrival not confirmed',
    style: 'yellow',
  },
} as const satisfies Readonly<Record<string, JournalEvent>>;

/** Events of attached keys. They are live only: they have no id and cannot be replayed. */
export const hardwareEventTable = {
  KEY_ATTACHED: { title: 'plugged in', words: 'plugged in[: {product}][: {problem}]', style: 'green' },
  KEY_DETACHED: { words: 'unplugged', style: 'yellow' },
} as const satisfies Readonly<Record<string, EventWords>>;

/** Type of an event in the journal. */
export type JournalEventType = keyof typeof journalEventTable;
/** Type of an event of an attached key. */
export type HardwareEventType = keyof typeof hardwareEventTable;
/** Type of an event of the notification stream. */
export type EventType = JournalEventType | AdministrationEventType | HardwareEventType;

/** Types of the events in the journal. */
export const journalEventTypes = Object.keys(journalEventTable) as JournalEventType[];
/** Types of the events of attached keys. */
export const hardwareEventTypes = Object.keys(hardwareEventTable) as HardwareEventType[];
/** The titles of all events of the notification stream, in English. */
export const eventTitles = Object.fromEntries(
  Object.entries({ ...journalEventTable, ...administrationEventTable, ...hardwareEventTable }).map(
    ([type, { words, title = words }]: [string, EventWords]) => [type, title],
  ),
) as Readonly<Record<EventType, string>>;
/** Types of all events of the notification stream. */
export const eventTypes: readonly EventType[] = [
  ...journalEventTypes,
  ...administrationEventTypes,
  ...hardwareEventTypes,
];
/** Types of the events that have an id. */
export const pastEventTypes: readonly (JournalEventType | AdministrationEventType)[] = [
  ...journalEventTypes,
  ...administrationEventTypes,
];

const rows = new Map<string, JournalEvent>(Object.entries(journalEventTable));
/** The row of an event of the journal; undefined for other entries, and types of a later version. */
export const journalEvent = (type: string): JournalEvent | undefined => rows.get(type);

/** The type of event that an operation on a device makes. */
export const eventOfOperation = (operation: BatchOperation): JournalEventType =>
  journalEventTypes.find(type => journalEvent(type)!.operation === operation)!;
