/**
 * User names and former values of persons in entries of the journal: sealed with a key that follows from the salt of the person.
 * Without the row of the person they cannot be read, so a later erasure needs no change of the journal.
 */
import { hash } from 'node:crypto';
import { personIds } from '../../src/contract/ids.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { namesIn } from '../../src/contract/names.ts';
import { type Binding, openSecret, sealSecret } from '../base/sealed.ts';
import type { Entry } from '../store/journal.ts';
import type { PersonDetails, PersonRecord } from './records.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Replacement of a user name in an entry. */
interface SealedName {
  /** Number of the person. */
  readonly person: number;
  readonly sealed: string;
}

const keyOf = (salt: string): Uint8Array => hash('sha256', `user name in the journal ${salt}`, 'buffer');
const boundTo = (person: number): Binding => ({ subject: person, place: 'user name' });

const isSealed = (value: unknown): value is SealedName =>
  isObject(value) && typeof value.person === 'number' && typeof value.sealed === 'string';

/** The fields with other user names: `userId`, and that of `before` and `after`. The same object if there are none. */
function withNames<F extends Fields>(fields: F, map: (name: unknown) => unknown): F {
  let found: Record<string, unknown> | null = null;
  for (const name of ['userId', 'before', 'after']) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    const mapped = name === 'userId' ? map(value) : isObject(value) ? withNames(value, map) : value;
    if (mapped !== value) found = { ...(found ?? fields), [name]: mapped };
  }
  return (found ?? fields) as F;
}

/** The entry about a device of a person, without the user name. */
export function sealedEntry(
  { type, data = {}, detail = {} }: Entry,
  { number, salt }: Pick<PersonRecord, 'number' | 'salt'>,
): Entry {
  const key = keyOf(salt);
  const seal = (name: unknown): SealedName => ({
    person: number,
    sealed: sealSecret(key, boundTo(number), String(name)),
  });
  return { type, data: withNames(data, seal), detail: withNames(detail, seal) };
}

/** The fields with the user names as they were. `saltOf`: of a person; undefined if it is gone, then the name is the id of the person. */
export const openedNames = <F extends Fields>(fields: F, saltOf: (person: number) => string | undefined): F =>
  withNames(fields, name => {
    if (!isSealed(name)) return name;
    const salt = saltOf(name.person);
    const opened = salt === undefined ? null : openSecret(keyOf(salt), boundTo(name.person), name.sealed);
    return opened ?? personIds.format(name.person);
  });

/** Fields of a person whose former values an entry has, sealed. Groups: their numbers. */
export const formerFields = namesIn(
  'userName name names email externalId source groups',
) satisfies readonly (keyof PersonDetails)[];
/** Former values of the fields that an entry has changed. */
export type FormerValues = Partial<Pick<PersonDetails, (typeof formerFields)[number]>>;

const valuesBoundTo = (person: number): Binding => ({ subject: person, place: 'former values' });

/** The entry about a change of a person, with the former values; the same entry if none of these fields changes. */
export function withFormer(entry: Entry, before: PersonRecord, after: PersonRecord): Entry {
  const changed = formerFields.filter(field => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  if (changed.length === 0) return entry;
  const values = JSON.stringify(Object.fromEntries(changed.map(field => [field, before[field]])));
  const former = sealSecret(keyOf(before.salt), valuesBoundTo(before.number), values);
  return { ...entry, detail: { fields: changed, ...entry.detail, former } };
}

/** The values that `withFormer` has sealed; null if the person was erased since. */
export function formerIn(sealed: string, { number, salt }: Pick<PersonRecord, 'number' | 'salt'>): FormerValues | null {
  const opened = openSecret(keyOf(salt), valuesBoundTo(number), sealed);
  return opened === null ? null : (JSON.parse(opened) as FormerValues);
}

/** Adds the persons whose names the fields have. */
export function collectPersons(fields: Fields, persons: Set<number>): void {
  withNames(fields, name => {
    if (isSealed(name)) persons.add(name.person);
    return name;
  });
}
