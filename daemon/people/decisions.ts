/** Decisions about persons, and what follows when one leaves. No I/O. */

import { deviceIds, personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { type PersonSource, personSources } from '../../src/contract/person-values.ts';
import { newSalt } from '../store/digest.ts';
import type { Entry } from '../store/journal.ts';
import { type BrakeCounts, isLeaveHeld, isNameHeld, type LeaverCounts } from './leaver-brake.ts';
import type {
  NewPerson,
  PersonAdd,
  PersonDetails,
  PersonEnder,
  PersonLeave,
  PersonRecord,
  PersonSet,
  PersonState,
  PersonUpdate,
} from './records.ts';

/** The person whom a name means, of all persons with this name: the one who is not removed, else the last one; undefined without any. */
export const holderOf = <P extends Pick<PersonRecord, 'removedAt'>>(persons: readonly P[]): P | undefined =>
  persons.find(({ removedAt }) => removedAt === null) ?? persons.at(-1);

/** Searched text in lower case, a line for each part. The e-mail address is behind an empty line: not all may search in it. */
export function searchTextOf({
  number,
  userName,
  name,
  email,
  externalId,
}: Pick<PersonRecord, 'number' | 'userName' | 'name' | 'email' | 'externalId'>): string {
  const lines = [personIds.format(number), userName, ...[name, externalId].filter(part => part !== null)];
  return `${lines.join('\n')}\n\n${email ?? ''}`.toLowerCase();
}

/** The state of a person who has not left. */
const present: PersonState = {
  active: true,
  leftAt: null,
  heldAt: null,
  pendingName: null,
  dueAt: null,
  reason: null,
  endedBy: null,
  removedAt: null,
};

/** A new person, who is active. */
export function create(details: PersonDetails): PersonAdd {
  const person: NewPerson = {
    ...details,
    ...present,
    userKey: personKey(details.userName),
    version: 1,
    salt: newSalt(),
  };
  return { kind: 'person.add', person };
}

/**
 * Sets fields; null if they have these values already. The entry names the fields, not their values. A user name that waits is given up
 * if `given` sets `pendingName`.
 */
export function edit(person: PersonRecord, given: PersonSet): PersonUpdate | null {
  const set = person.pendingName === null || 'pendingName' in given ? given : besidePending(person, given);
  const changed = Object.fromEntries(
    Object.entries(set).filter(([field, value]) => !isSame(value, person[field as keyof PersonSet])),
  ) as PersonSet;
  const fields = Object.keys(changed);
  if (fields.length === 0) return null;
  return updated(person, changed, { type: 'PERSON_UPDATED', detail: { fields } });
}

/** A user name that waits is not set again. A different one, including the current one, replaces it. */
function besidePending({ pendingName }: PersonRecord, given: PersonSet): PersonSet {
  const { userName, ...others } = given;
  if (userName === undefined || userName === pendingName) return others;
  return { ...given, pendingName: null, heldAt: null };
}

/** Gives the user name that waits for a release. Null if none waits. */
export function givePendingName(person: PersonRecord): PersonUpdate | null {
  const { pendingName: userName } = person;
  if (userName === null) return null;
  const set = { userName, pendingName: null, heldAt: null };
  return updated(person, set, { type: 'PERSON_UPDATED', detail: { fields: Object.keys(set) } });
}

function updated(
  { number, version, removedAt, userName: from }: PersonRecord,
  set: PersonSet,
  entry: Entry,
): PersonUpdate {
  const { userName: to = from } = set;
  return {
    kind: 'person.set',
    person: number,
    before: version,
    set,
    ...(to === from ? {} : { renamed: { from, to } }),
    ...(removedAt !== null && set.removedAt === null ? { restored: to } : {}),
    entry,
  };
}

/** Whether two values of a field are equal. */
export const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** The person returns: a delay ends, held work is dropped. Nothing is unlocked: `lockedDevices` could be. Null if active. */
export function comesBack(
  person: PersonRecord,
  lockedDevices: readonly number[],
  details: Partial<PersonDetails> = {},
): PersonUpdate | null {
  if (person.active) return null;
  const data = { ...subject(person), lockedDevices: lockedDevices.map(number => deviceIds.format(number)) };
  return updated(person, { ...details, ...present }, { type: 'PERSON_RETURNED', data });
}

/** The public part of an entry about a person. */
export const subject = ({ number, source }: Pick<PersonRecord, 'number' | 'source'>) => ({
  personId: personIds.format(number),
  source,
});

/** Effect of a step on a person and the person's ACTIVE devices. `null`: the person waits for nothing. */
interface LeaverOutcome {
  readonly result: 'locked' | 'held' | 'due';
  readonly set: PersonSet;
  /** Absent if nothing that others see has changed. */
  readonly entry: Entry | null;
}

/** Decides a step at `now`. `devices`: how many ACTIVE ones the person has. `accounts`: how many enabled ones have the user name. */
export function leave(
  {
    step,
    reason,
    endedBy,
    rule,
    activeDevices,
    accounts: allAccounts = Number.POSITIVE_INFINITY,
    isRemoved,
  }: PersonLeave,
  { person, devices, accounts, recent, now }: LeaverState,
): LeaverOutcome | null {
  if (step === 'due' && person.dueAt === null) return null;
  // An active person waits for a new user name alone.
  const isHeld = person.heldAt !== null && !person.active;
  if (step === 'release' && !isHeld) return null;
  const leftAt = person.leftAt ?? now;
  const removedAt = isRemoved ? (person.removedAt ?? now) : person.removedAt;
  const totals = { activeDevices, accounts: allAccounts };
  const noName = person.pendingName === null ? {} : { pendingName: null, heldAt: null };
  const ended = person.reason === null ? { reason, endedBy } : { reason: person.reason };
  const gone = { active: false, leftAt, removedAt, ...ended, ...noName };
  const data = { ...subject(person), devices };
  // A repeated request must neither prolong a delay nor count what is held twice.
  const waits = step === 'leave' && isHeld;
  if (step === 'leave' && !waits && rule.delayMs > 0 && (person.active || person.dueAt !== null)) {
    const set = { ...gone, dueAt: person.dueAt ?? now + rule.delayMs };
    return { result: 'due', set, entry: person.active ? { type: 'PERSON_LEFT', data } : null };
  }
  if (waits || (step !== 'release' && isLeaveHeld(recent, { devices, accounts }, totals))) {
    const set = { ...gone, heldAt: isHeld ? person.heldAt : now, dueAt: null };
    return { result: 'held', set, entry: waits ? null : { type: 'PERSON_HELD', data } };
  }
  const set = { ...gone, heldAt: null, dueAt: null };
  const isNew = person.active || person.heldAt !== null;
  return { result: 'locked', set, entry: isNew || devices > 0 ? { type: 'PERSON_LEFT', data } : null };
}

/** State that a step is decided on. */
interface LeaverState {
  readonly person: PersonRecord;
  readonly devices: number;
  readonly accounts: number;
  readonly recent: Omit<BrakeCounts, 'names'>;
  readonly now: number;
}

/** The record instead of a user name that waits for a release; null if it need not. `affected`: ACTIVE devices, enabled accounts. */
export function heldName(
  person: PersonRecord,
  { set, renamed, brake }: Pick<PersonUpdate, 'set' | 'renamed' | 'brake'>,
  { devices, affected, recent, now }: NameState,
): Pick<PersonUpdate, 'set' | 'entry'> | null {
  if (!renamed || !brake || !isNameHeld(recent, affected, brake)) return null;
  const { userName: pendingName = null, ...others } = set;
  const held = { ...others, pendingName, heldAt: now };
  const entry = {
    type: 'PERSON_HELD',
    data: { ...subject(person), devices },
    detail: { fields: Object.keys(held) },
  } as const;
  return { set: held, entry };
}

/** State that a new user name is judged by. */
interface NameState {
  readonly devices: number;
  readonly affected: number;
  readonly recent: LeaverCounts;
  readonly now: number;
}

/** Whether a source gives a person who has left another external id, and with it the devices to someone else. */
export const isSomeoneElse = (
  { active, externalId }: Pick<PersonRecord, 'active' | 'externalId'>,
  wanted: Pick<PersonRecord, 'externalId'>,
): boolean => !active && externalId !== null && wanted.externalId !== null && wanted.externalId !== externalId;

/**
 * The removed person whom a source adds again, of those with this name: the last one with the same external id, or without one.
 * A different external id is a different person.
 */
export const removedAs = <P extends Pick<PersonRecord, 'externalId'>>(
  removed: readonly P[],
  externalId: string | null,
) => removed.findLast(person => person.externalId === externalId) ?? null;

/** The reason of locks if the source of a person, and no user, has ended the person. */
export const leaverReason = (source: PersonSource): string => `left (${source})`;

/** Who has ended a person, by the reason: daemons of earlier versions store nothing else. */
export const enderIn = (reason: unknown): PersonEnder =>
  personSources.some(source => reason === leaverReason(source)) ? 'source' : 'admin';

/** Whether an ADMIN has ended the person here. Then only an ADMIN brings the person back: the source may not know of it yet. */
export const isEndedHere = ({
  active,
  reason,
  endedBy,
  removedAt,
}: Pick<PersonState, 'active' | 'reason' | 'endedBy' | 'removedAt'>): boolean =>
  !active && removedAt === null && (endedBy ?? enderIn(reason)) === 'admin';
