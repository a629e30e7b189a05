/** The erasure of a person: what names the person, and the texts without it. No I/O. */
import { Code } from '../../src/contract/codes.ts';
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { Refusal } from '../base/decision.ts';
import { newSalt } from '../store/digest.ts';
import type { CaseRecord } from './case-records.ts';
import { leaverReason, searchTextOf } from './decisions.ts';
import type { PersonRecord } from './records.ts';

/**
 * Replaces what names a person by the id, also in the rows of other subjects: they add to this change. A `Conflict` if the person has
 * another version, or other devices.
 */
export interface PersonErase {
  readonly kind: 'person.erase';
  readonly person: number;
  readonly before: number;
  /** `personKey` of the user name. */
  readonly userKey: string;
  /** Numbers of the devices of the person, ascending; also those without a person that have the user name. */
  readonly devices: readonly number[];
  /** Texts that name the person: see `namesOf`. */
  readonly names: readonly string[];
}

/** Shorter names are too frequent in texts about others. */
const SHORTEST = 2;

/** Texts that name a person, the longest first. */
export function namesOf({ userName, pendingName, name, names, email, externalId }: PersonRecord): readonly string[] {
  const { emails = [], ...parts } = names ?? {};
  const all = [
    userName,
    pendingName,
    name,
    email,
    externalId,
    ...Object.values(parts),
    ...emails.map(one => one.value),
  ];
  const found = all.filter(text => typeof text === 'string' && text.trim().length >= SHORTEST);
  return [...new Set(found.map(text => text!.trim()))].sort((a, b) => b.length - a.length);
}

/** The text with the id in place of each whole occurrence of a name, in upper or lower case. */
export function withoutNames<T extends string | null>(
  text: T,
  { names, person }: Pick<PersonErase, 'names' | 'person'>,
): T {
  if (text === null) return text;
  const id = personIds.format(person);
  return names.reduce<string>((rest, name) => withId(rest, name.normalize('NFC'), id), text.normalize('NFC')) as T;
}

const wordCharacter = /^[\p{L}\p{N}]$/u;

function withId(text: string, name: string, id: string): string {
  // A letter whose lower case has another length would shift the positions: then the spelling must be the same.
  const low = text.toLowerCase();
  const [searched, wanted] = low.length === text.length ? [low, name.toLowerCase()] : [text, name];
  const parts: string[] = [];
  let start = 0;
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    const isPart = at > 0 && wordCharacter.test(text[at - 1]!);
    if (at < start || isPart || wordCharacter.test(text[end] ?? '')) continue;
    parts.push(text.slice(start, at), id);
    start = end;
  }
  return parts.join('') + text.slice(start);
}

/** The row that stays of an erased person. Its new salt makes the names in the journal unreadable. */
export function erasedPerson(person: PersonRecord, at: number): PersonRecord {
  const userName = personIds.format(person.number);
  const gone = { name: null, names: null, email: null, externalId: null, pendingName: null, heldAt: null, dueAt: null };
  const after: PersonRecord = {
    ...person,
    ...gone,
    userName,
    userKey: personKey(userName),
    groups: [],
    reason: leaverReason(person.source),
    endedBy: 'erasure',
    removedAt: person.removedAt ?? at,
    updatedAt: at,
    version: person.version + 1,
    salt: newSalt(),
  };
  return { ...after, search: searchTextOf(after) };
}

/** Why a person cannot be erased; null if it is possible. */
export function erasureRefusal(person: PersonRecord, record: CaseRecord | null): Refusal | null {
  const id = personIds.format(person.number);
  if (person.active)
    return new Refusal(Code.parameterError, `${id} has not left. Record the leave first: devmgr people leave ${id}`);
  if (record === null || record.closedAt === null)
    return new Refusal(
      Code.parameterError,
      record === null
        ? `${id} has no case. Record the leave again, then close the case: devmgr people leave ${id}`
        : `the case of ${id} is open. Close it first: devmgr people case ${id}`,
    );
  return null;
}
