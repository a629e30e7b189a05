/** What a batch of changes did to persons, accounts and devices, as its entries of the journal show it. No I/O. */

import { personIds } from '../../src/contract/ids.ts';
import { isObject } from '../../src/contract/json-object.ts';
import type { EventRecord } from '../store/journal.ts';
import { formerFields } from './sealed-names.ts';

/** A person whom a batch has changed. */
export interface ChangedPerson {
  readonly kind: 'person';
  readonly number: number;
  /** The last entry about the person. */
  last: number;
  isAdded: boolean;
  /** Entries by which the person left. */
  readonly left: EventRecord[];
  /** Fields that it has changed. */
  readonly fields: Set<string>;
  /** Former values of these, sealed, in the order of the entries: those of earlier versions have none. */
  readonly former: string[];
  /** Commits that have changed the user name. */
  readonly named: Set<string>;
  /** When a new user name began to wait for a release. */
  readonly heldAt: number[];
}

/** An account that a batch has disabled or given to a person. */
export interface ChangedAccount {
  readonly kind: 'account';
  readonly number: number;
  readonly last: number;
  readonly isDisabled: boolean;
  /** Whether it belonged to no person before. */
  readonly isGiven: boolean;
}

/** A device that a batch has locked, retired or given to someone else. */
export interface ChangedDevice {
  readonly kind: 'device';
  readonly number: number;
  last: number;
  /** Its lock: null if the batch has not ended it. */
  ended: { readonly isRetired: boolean } | null;
  /** The first holder and the last one, by number of the person; null: it stayed. `userId`: undefined if it stayed. */
  holder: {
    readonly before: { readonly person: number | null; readonly userId: string | undefined };
    readonly after: number | null;
  } | null;
  /** The last commit that gave it to someone else. */
  moved: string | null;
}

/** A new user name as a device showed it, in the commit `key`. */
export interface ShownName {
  readonly key: string;
  readonly before: string;
  readonly after: string;
}

export interface ChangedBatch {
  /** Persons, then accounts, then devices; of each kind what was changed last comes first: a name is then free again. */
  readonly changed: readonly (ChangedPerson | ChangedAccount | ChangedDevice)[];
  readonly persons: ReadonlyMap<number, ChangedPerson>;
  readonly names: ReadonlyMap<number, readonly ShownName[]>;
  readonly devices: ReadonlySet<number>;
}

type AccountFields = { readonly disabled?: unknown; readonly personId?: unknown };
const isIn = <T extends string>(values: readonly T[], value: string): value is T => values.includes(value as T);
const personTypes = ['PERSON_ADDED', 'PERSON_UPDATED', 'PERSON_LEFT', 'PERSON_HELD', 'PERSON_RETURNED'] as const;
const endTypes = ['DEVICE_LOCKED', 'DEVICE_DEACTIVATED'] as const;

/** Entries of one commit have the same time and the same request, or the same actor without one. */
const commitOf = ({ at, actor, requestId }: EventRecord): string => `${requestId ?? actor} ${at}`;
const fieldsIn = ({ detail: { fields } }: EventRecord): readonly string[] =>
  Array.isArray(fields) ? (fields as string[]) : [];

/** Reads a batch. `events` ascend. */
export function changedBy(events: readonly EventRecord[]): ChangedBatch {
  const persons = new Map<number, ChangedPerson>();
  const names = new Map<number, ShownName[]>();
  /** Commits in which a person left or got another user name: accounts and devices that they disable and lock are consequences. */
  const causes = new Set<string>();
  for (const event of events) {
    const { type, subject, device } = event;
    if (device !== null || subject === null || !isIn(personTypes, type)) continue;
    const person = persons.get(subject) ?? newPerson(subject);
    persons.set(subject, person);
    applyEntry(person, event);
    if (type === 'PERSON_LEFT' || person.named.has(commitOf(event))) causes.add(commitOf(event));
  }
  const accounts = new Map<number, ChangedAccount>();
  const devices = new Map<number, ChangedDevice>();
  for (const event of events) {
    const { id, type, subject, device } = event;
    const key = commitOf(event);
    if (type === 'USER_UPDATED' && subject !== null) {
      const { before = {}, after = {} } = event.detail as Partial<Record<'before' | 'after', AccountFields>>;
      const known = accounts.get(subject);
      const isDisabled = known?.isDisabled || (after.disabled === true && causes.has(key));
      const isGiven = known?.isGiven || (before.personId === null && after.personId !== undefined);
      if (isDisabled || isGiven)
        accounts.set(subject, { kind: 'account', number: subject, last: id, isDisabled, isGiven });
    }
    if (device === null) continue;
    const name = shownName(event, key);
    if (name && causes.has(key)) names.set(device, [...(names.get(device) ?? []), name]);
    const changed = deviceAfter(devices.get(device) ?? newDevice(device), event, causes.has(key));
    if (changed) devices.set(device, changed);
  }
  const lastFirst = <T extends { readonly last: number }>(all: Iterable<T>) => [...all].sort((a, b) => b.last - a.last);
  const concerned = [...persons.values()].filter(one => one.left.length + one.fields.size + one.heldAt.length > 0);
  return {
    changed: [...lastFirst(concerned), ...lastFirst(accounts.values()), ...lastFirst(devices.values())],
    persons,
    names,
    devices: new Set(devices.keys()),
  };
}

const newPerson = (number: number): ChangedPerson => ({
  ...{ kind: 'person', number, last: 0, isAdded: false },
  left: [],
  fields: new Set(),
  former: [],
  named: new Set(),
  heldAt: [],
});

const newDevice = (number: number): ChangedDevice => ({
  ...{ kind: 'device', number, last: 0 },
  ended: null,
  holder: null,
  moved: null,
});

function applyEntry(person: ChangedPerson, event: EventRecord): void {
  const { id, at, type } = event;
  const fields = fieldsIn(event);
  person.last = id;
  for (const field of formerFields) if (fields.includes(field)) person.fields.add(field);
  if (typeof event.detail.former === 'string') person.former.push(event.detail.former);
  if (type === 'PERSON_ADDED') person.isAdded = true;
  else if (type === 'PERSON_HELD' && fields.includes('pendingName')) person.heldAt.push(at);
  else if (type === 'PERSON_LEFT' || type === 'PERSON_HELD') person.left.push(event);
  else if (fields.includes('userName')) person.named.add(commitOf(event));
}

/** The user names before and after, if the device stayed with its person; null of another entry. */
function shownName({ type, detail: { before, after } }: EventRecord, key: string): ShownName | null {
  if (type !== 'DEVICE_UPDATED' || !isObject(before) || !isObject(after) || 'personId' in before) return null;
  const [from, to] = [before.userId, after.userId];
  return typeof from === 'string' && typeof to === 'string' ? { key, before: from, after: to } : null;
}

/** The device after an entry; null if the entry is about something else. `isCaused`: a person left or was renamed by the same commit. */
function deviceAfter(device: ChangedDevice, event: EventRecord, isCaused: boolean): ChangedDevice | null {
  const { id: last, type, detail } = event;
  const { before } = detail;
  if (isIn(endTypes, type) && (isCaused || device.moved === commitOf(event)))
    return { ...device, last, ended: { isRetired: type === 'DEVICE_DEACTIVATED' } };
  if (type !== 'DEVICE_UPDATED' || !isObject(before) || !('personId' in before)) return null;
  const first = { person: numberOf(before.personId), userId: before.userId as string | undefined };
  const holder = { before: device.holder?.before ?? first, after: numberOf(detail.personId) };
  return { ...device, last, holder, moved: commitOf(event) };
}

const numberOf = (personId: unknown): number | null =>
  typeof personId === 'string' ? personIds.parse(personId) : null;
