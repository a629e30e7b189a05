/** Entries of the journal as frames of the stream: made once, sent to everybody. */
import {
  type EventType,
  eventTypes,
  hardwareEventTypes,
  type JournalEventType,
  journalEventTypes,
  type Notification,
} from '../../src/contract/events.ts';
import { deviceIds, versionIds } from '../../src/contract/ids.ts';
import type { EventRecord } from '../domain/journal.ts';

/** A set of event types, as bits: the frames of thousands of consumers are filtered by it. */
export type TypeSet = number;

const bits = new Map<string, TypeSet>(eventTypes.map((type, place) => [type, 1 << place]));

export const typeSet = (types: readonly EventType[]): TypeSet =>
  types.reduce((set, type) => set | bits.get(type)!, 0 as TypeSet);

export const journalTypes: TypeSet = typeSet(journalEventTypes);
export const hardwareTypes: TypeSet = typeSet(hardwareEventTypes);

/** The bit of a type; 0 for a kind of entry that is not notified. */
export const bitOf = (type: EventRecord['type'] | EventType): TypeSet => bits.get(type) ?? 0;

export const typesIn = (set: TypeSet): JournalEventType[] => journalEventTypes.filter(type => set & bitOf(type));

/** Null for an entry that is kept but not notified. */
export function notificationOf(event: EventRecord): Notification | null {
  if (bitOf(event.type) === 0) return null;
  return {
    id: event.id,
    type: event.type as JournalEventType,
    timestamp: new Date(event.at).toISOString(),
    data: { ...subjectOf(event), ...event.data },
  };
}

function subjectOf(event: EventRecord): Record<string, string> {
  if (event.type === 'APP_VERSION_UPLOADED')
    return event.subject === null ? {} : { versionId: versionIds.format(event.subject) };
  return event.device === null ? {} : { deviceId: deviceIds.format(event.device) };
}

const FINAL_TEXT = 0x81;

/** The bytes of an unmasked, unfragmented WebSocket text frame: identical for every connection, so they can be shared. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = FINAL_TEXT;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
}
