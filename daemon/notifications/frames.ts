/** Journal entries and key events as frames of the stream. */
import { isDeepStrictEqual } from 'node:util';
import { Sender } from 'ws';
import {
  type EventType,
  eventTypes,
  hardwareEventTypes,
  type JournalEventType,
  journalEvent,
  pastEventTypes,
} from '../../src/contract/event-types.ts';
import type { EventActor, FieldChange, Notification } from '../../src/contract/events.ts';
import { deviceIds, versionIds } from '../../src/contract/ids.ts';
import { actorKinds } from '../../src/contract/values.ts';
import type { EventRecord } from '../store/journal.ts';
import { administrationOf } from './administration.ts';
import { cutText } from './shown-values.ts';

/** A set of event types as bits, so that filtering for thousands of consumers costs one operation each. */
export type TypeSet = bigint;

const bits = new Map<string, TypeSet>(eventTypes.map((type, index) => [type, 1n << BigInt(index)]));

/** The bit of a type. */
export const bitOf = (type: EventType): TypeSet => bits.get(type)!;

/** The set of these types. */
export const typeSet = (types: readonly EventType[]): TypeSet => types.reduce((set, type) => set | bitOf(type), 0n);

/** All types of the journal, those of administration too. */
export const journalTypes: TypeSet = typeSet(pastEventTypes);
/** KEY_ATTACHED and KEY_DETACHED. */
export const hardwareTypes: TypeSet = typeSet(hardwareEventTypes);

/** The types of the journal in a set. */
export const typesIn = (set: TypeSet): EventType[] => pastEventTypes.filter(type => set & bitOf(type));

/** Event of a journal entry for a webhook; null if entries of its type are not published, or are for ADMINs only. */
export function notificationOf(event: EventRecord): Notification | null {
  if (!journalEvent(event.type)) return null;
  return {
    id: event.id,
    type: event.type as JournalEventType,
    timestamp: new Date(event.at).toISOString(),
    data: { ...subjectOf(event), ...event.data },
  };
}

/** What users get of it: an ADMIN with `actor`, and the changes of administration. */
export function userEventOf(event: EventRecord, isAdmin: boolean): Notification | null {
  const notification = notificationOf(event) ?? (isAdmin ? administrationOf(event) : null);
  return (
    notification && {
      ...notification,
      ...(isAdmin ? { actor: actorOf(event.actor) } : {}),
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
    .map(([field, value]) => ({ field, before: shown(earlier[field]), after: shown(value) }));
}

const shown = (value: unknown): FieldChange['before'] =>
  typeof value === 'string' ? cutText(value) : ((value ?? null) as FieldChange['before']);

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
