/** Changes of administration as events: what an ADMIN sees of entries that no one else does. */
import {
  type AdministrationEvent,
  type AdministrationEventType,
  administrationEvent,
  administrationEventTypes,
  type ShownField,
} from '../../src/contract/administration-events.ts';
import { type EventType, journalEvent } from '../../src/contract/event-types.ts';
import type { FieldChange, Notification } from '../../src/contract/events.ts';
import { personIds, tokenIds, userIds } from '../../src/contract/ids.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { forEachProviderSetting, shownProviderSettings } from '../../src/contract/provider-fields.ts';
import { type EntryType, type EventRecord, subjectKindOf } from '../store/journal.ts';
import type { EventFilter } from '../store/queries.ts';
import { cutText } from './shown-values.ts';

interface EntryEvent {
  readonly type: AdministrationEventType;
  readonly row: AdministrationEvent;
  /** Data that its entry does not have. */
  readonly given: Readonly<Record<string, string>>;
}

/** The event of each type of entry. */
const eventOfEntry = new Map<string, EntryEvent>(
  administrationEventTypes.flatMap(type => {
    const row = administrationEvent(type)!;
    return Object.entries(row.entries ?? { [type]: {} }).map(
      ([entry, given]) => [entry, { type, row, given }] as const,
    );
  }),
);

/** The entries of a type of event; none of an event that is not in the journal. */
function entriesOf(type: EventType): readonly EntryType[] {
  const row = administrationEvent(type);
  if (row) return Object.keys(row.entries ?? { [type]: {} }) as EntryType[];
  return journalEvent(type) ? [type as EntryType] : [];
}

/** The filter of the journal that finds the entries of these types of event. */
export const entriesOfTypes = (types: readonly EventType[]): Pick<EventFilter, 'types' | 'besideDevices'> => ({
  types: types.flatMap(entriesOf),
  ...(types.every(administrationEvent) && { besideDevices: true }),
});

/** Event of an entry of administration, without its actor; null for other entries. */
export function administrationOf(event: EventRecord): Notification | null {
  const found = eventOfEntry.get(event.type);
  if (!found) return null;
  const { type, row, given } = found;
  const values = { ...event.data, ...event.detail, ...subjectOf(event), ...given };
  return {
    id: event.id,
    type,
    timestamp: new Date(event.at).toISOString(),
    data: Object.fromEntries(row.data.map(name => [name, shown(name, values[name])])),
    changes: changesOf(row, event.detail),
  };
}

const idOfSubject = {
  user: ['userId', userIds],
  serviceToken: ['tokenId', tokenIds],
  person: ['personId', personIds],
} as const;

/** The id of what the entry is about. Entries about sign-in keys and policies have that of the user in `user`. */
function subjectOf({ type, subject, detail: { user } }: EventRecord): Readonly<Record<string, unknown>> {
  const kind = subjectKindOf(type);
  if (subject === null || !kind || !(kind in idOfSubject)) return { userId: user };
  const [name, ids] = idOfSubject[kind as keyof typeof idOfSubject];
  return { [name]: ids.format(subject) };
}

type Detail = EventRecord['detail'];

function changesOf({ change, changes, providerFields, ...row }: AdministrationEvent, detail: Detail): FieldChange[] {
  const shownFields = {
    ...changes,
    ...(providerFields && forEachProviderSetting(shownProviderSettings, () => providerFields)),
  };
  const fields = Object.entries(shownFields).flatMap(([field, as]) => changeOf(field, as, detail));
  return [...(change ? [change] : []), ...fields, ...('after' in detail ? differences(detail, row.compared) : [])];
}

function changeOf(field: string, as: ShownField, detail: Detail): FieldChange[] {
  const value = detail[field];
  if (value === undefined || value === null) return [];
  if (as === 'secret') return [{ field, before: null, after: 'changed' }];
  if (as === 'names')
    return (value as readonly string[]).map(name => ({ field: name, before: null, after: 'changed' }));
  if (as === 'former') return [{ field, before: shown(field, value), after: null }];
  const { before } = detail;
  return [{ field, before: typeof before === 'string' ? before : null, after: shown(field, value) }];
}

/**
 * What an update has changed: members of objects have the names `outer.inner`. Without `before`, as in entries of earlier versions, all of
 * `after`.
 */
function differences({ before, after }: Detail, compared = ''): FieldChange[] {
  const [earlier, later] = [before, after].map(value => flat(value, isObject(value) ? '' : compared)) as [Flat, Flat];
  // Settings that are null are not in use.
  const turned =
    before === null || after === null ? [['enabled', String(before !== null), String(after !== null)] as const] : [];
  const names = new Set([...earlier.keys(), ...later.keys()]);
  const all = [...names].map(name => [name, earlier.get(name) ?? null, later.get(name) ?? null] as const);
  return [...turned, ...all]
    .filter(([, was, is]) => before === undefined || was !== is)
    .map(([field, was, is]) => ({ field, before: was, after: is }));
}

type Flat = ReadonlyMap<string, string | null>;

function flat(value: unknown, path: string): Flat {
  if (!isObject(value)) return new Map(path === '' ? [] : [[path, shown(path, value)]]);
  const members = Object.entries(value).filter(([name]) => name !== 'sealed');
  return new Map(members.flatMap(([name, member]) => [...flat(member, path ? `${path}.${name}` : name)]));
}

const times = new Set(['until', 'expiresAt']);

/** A value as text; null if there is none. */
function shown(name: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (times.has(name) && typeof value === 'number') return new Date(value).toISOString();
  // The path of an address can be a secret of its receiver.
  if (name === 'url') return addressOf(String(value));
  return cutText(written(value)) || null;
}

function addressOf(text: string): string | null {
  const url = URL.parse(text);
  return url && `${url.protocol}//${url.host}`;
}

function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(written).join(', ');
  return isObject(value) ? Object.values(value).map(written).filter(Boolean).join(' ') : String(value ?? '');
}
