/** Journal entries and key events as frames of the stream. */
import { isDeepStrictEqual } from 'node:util';
import { Sender } from 'ws';
import {
  type EventType,
  eventTypes,
  hardwareEventTypes,
  type JournalEventType,
  journalEvent,
  journalEventTypes,
} from '../../src/contract/event-types.ts';
import type { EventActor, FieldChange, Notification } from '../../src/contract/events.ts';
import { deviceIds, versionIds } from '../../src/contract/ids.ts';
import { actorKinds } from '../../src/contract/values.ts';
import type { EventRecord } from '../store/journal.ts';

/** A set of event types as bits, so that filtering for thousands of consumers costs one operation each. */
export type TypeSet = number;

const bits = new Map<string, TypeSet>(eventTypes.map((type, index) => [type, 1 << index]));

/** The set of these types. */
export const typeSet = (types: readonly EventType[]): TypeSet =>
  types.reduce((set, type) => set | bits.get(type)!, 0 as TypeSet);

/** All types of the journal. */
export const journalTypes: TypeSet = typeSet(journalEventTypes);
/** KEY_ATTACHED and KEY_DETACHED. */
export const hardwareTypes: TypeSet = typeSet(hardwareEventTypes);

/** The bit of a type; 0 for a journal entry that is not published. */
export const bitOf = (type: EventRecord['type'] | EventType): TypeSet => bits.get(type) ?? 0;

/** The types of the journal in a set. */
export const typesIn = (set: TypeSet): JournalEventType[] => journalEventTypes.filter(type => set & bitOf(type));

/** Event of a journal entry for a webhook; null if entries of its type are not published. */
export function notificationOf(event: EventRecord): Notification | null {
  if (bitOf(event.type) === 0) return null;
  return {
    id: event.id,
    type: event.type as JournalEventType,
    timestamp: new Date(event.at).toISOString(),
    data: { ...subjectOf(event), ...event.data },
  };
}

/** The frame for users: an ADMIN gets `actor` too. */
export function userEventOf(event: EventRecord, withActor: boolean): Notification | null {
  const notification = notificationOf(event);
  return (
    notification && {
      ...notification,
      ...(withActor ? { actor: actorOf(event.actor) } : {}),
      ...(journalEvent(event.type)?.hasChanges ? { changes: changesOf(event.detail) } : {}),
    }
  );
}

/** No name of a user has a colon: what is before one is the kind. */
function actorOf(actor: string | null): EventActor {
  if (actor === null) return { name: 'devmgr', kind: 'daemon' };
  const prefix = actor.slice(0, Math.max(0, actor.indexOf(':')));
  return { name: actor, kind: actorKinds.find(kind => kind === prefix) ?? 'user' };
}

function changesOf({ before = {}, after = {} }: EventRecord['detail']): FieldChange[] {
  const earlier = before as Readonly<Record<string, unknown>>;
  return Object.entries(after as object)
    .filter(([field, value]) => !isDeepStrictEqual(value, earlier[field]))
    .map(([field, value]) => ({ field, before: cut(earlier[field]), after: cut(value) }));
}

/** Most characters of a text in `changes`. */
const shownCharacters = 200;

function cut(value: unknown): FieldChange['before'] {
  if (typeof value !== 'string') return (value ?? null) as FieldChange['before'];
  const characters = [...value];
  return characters.length > shownCharacters ? `${characters.slice(0, shownCharacters).join('')}…` : value;
}

function subjectOf(event: EventRecord): Record<string, string> {
  if (journalEvent(event.type)?.subject === 'version')
    return event.subject === null ? {} : { versionId: versionIds.format(event.subject) };
  return event.device === null ? {} : { deviceId: deviceIds.format(event.device) };
}

// @types/ws does not declare what `ws` exports here.
declare module 'ws' {
  const Sender: { frame(data: Buffer, options: Options): Buffer[] };
}
interface Options {
  readonly fin: boolean;
  readonly opcode: number;
  readonly mask: boolean;
  readonly readOnly: boolean;
  readonly rsv1: boolean;
}

/** A whole text message (opcode 1), not masked because the server sends it, not compressed. */
const textMessage: Options = { fin: true, opcode: 1, mask: false, readOnly: true, rsv1: false };

/** The WebSocket frame of a text. It is the same for every connection, so one buffer is shared by all of them. */
export const textFrame = (text: string): Buffer => Buffer.concat(Sender.frame(Buffer.from(text), textMessage));
