/** The policy of persons, and their groups: documents that the journal proves. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import { dayMs } from '../../src/contract/durations.ts';
import { groupIds } from '../../src/contract/ids.ts';
import { arrivalDays, personBounds } from '../../src/contract/limits.ts';
import type { PeoplePolicy } from '../../src/contract/people-policy.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { Refusal } from '../base/decision.ts';
import { type DocumentSet, type NumberedRecords, recordsIn, setRecords } from '../store/document.ts';
import type { LeaverRule } from './records.ts';

/** The document with the policy. */
export const PEOPLE_POLICY = 'people-policy';

/** The policy before one is set. */
export const noPeoplePolicy: PeoplePolicy = { personsRequired: false, leavers: 'lock', leaverDelayHours: 0 };

/** The effect of leaving by the policy. */
export const leaverRuleOf = ({ leavers, leaverDelayHours }: PeoplePolicy): LeaverRule => ({
  action: leavers,
  delayMs: leaverDelayHours * 3_600_000,
});

/** Before when a key was sent whose arrival is overdue at this time; null if none ever is. */
export const overdueSince = ({ arrivalDays: days = arrivalDays }: PeoplePolicy, at: number): number | null =>
  days === null ? null : at - days * dayMs;

/** The document with the groups of persons. */
export const GROUPS = 'groups';

/** A group of persons, as it is stored. Persons have its number. */
export interface GroupRecord {
  /** The number in the id GRP-n: from 1, never used again. */
  readonly number: number;
  readonly name: string;
  readonly externalId: string | null;
  /** This and the other time: milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Ascends with each change of the group or of its members, from 1. */
  readonly version: number;
}

/** The groups of a registry. */
export type Groups = NumberedRecords<GroupRecord>;

/** The groups in a document. */
export const groupsIn = recordsIn<GroupRecord>;

const stored = (groups: Groups, detail: Readonly<Record<string, unknown>>): DocumentSet =>
  setRecords(GROUPS, groups, { type: 'GROUPS_SET', detail });

/** The group with this name, in upper or lower case. */
export const groupNamed = ({ list }: Groups, name: string): GroupRecord | undefined =>
  list.find(group => personKey(group.name) === personKey(name));

/** Names of the groups with these numbers. */
export const namesOf = ({ list }: Groups, numbers: readonly number[]): string[] =>
  list.filter(({ number }) => numbers.includes(number)).map(({ name }) => name);

/** A group as the change leaves it. */
export interface GroupsChanged {
  readonly record: GroupRecord;
  readonly change: DocumentSet;
}

/** Adds a group. Refuses with 1001 if the registry has as many as it can have; the caller has looked for its name. */
export function addGroup(groups: Groups, name: string, externalId: string | null, at: number): GroupsChanged | Refusal {
  if (groups.list.length >= personBounds.groups)
    return new Refusal(Code.parameterError, `the registry has ${personBounds.groups} groups, the maximum`);
  const number = groups.last + 1;
  const record = { number, name, externalId, createdAt: at, updatedAt: at, version: 1 };
  const change = stored(
    { ...groups, last: number, list: [...groups.list, record] },
    { added: groupIds.format(number) },
  );
  return { record, change };
}

/** Changes a group, or notes that its members have changed. */
export function changeGroup(
  groups: Groups,
  group: GroupRecord,
  set: Partial<Pick<GroupRecord, 'name' | 'externalId'>>,
  at: number,
): GroupsChanged {
  const record = { ...group, ...set, updatedAt: at, version: group.version + 1 };
  const list = groups.list.map(one => (one.number === group.number ? record : one));
  return { record, change: stored({ ...groups, list }, { changed: groupIds.format(group.number) }) };
}

/** The groups that only one of two lists has. */
export const movedGroups = (before: readonly number[], after: readonly number[]): ReadonlySet<number> =>
  new Set([...before, ...after].filter(number => before.includes(number) !== after.includes(number)));

/** Notes that members of these groups have changed; of none of them if `numbers` is empty. */
export function touchGroups(groups: Groups, numbers: ReadonlySet<number>, at: number): readonly DocumentSet[] {
  const isTouched = ({ number }: GroupRecord) => numbers.has(number);
  const changed = groups.list.filter(isTouched).map(({ number }) => groupIds.format(number));
  const list = groups.list.map(one => (isTouched(one) ? { ...one, updatedAt: at, version: one.version + 1 } : one));
  return changed.length === 0 ? [] : [stored({ ...groups, list }, { changed })];
}

/** Removes a group. */
export const removeGroup = (groups: Groups, { number }: GroupRecord): DocumentSet =>
  stored({ ...groups, list: groups.list.filter(one => one.number !== number) }, { removed: groupIds.format(number) });
