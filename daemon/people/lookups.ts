/** Persons and groups that requests name. */
import { ApiError } from '../../src/contract/codes.ts';
import { personIds } from '../../src/contract/ids.ts';
import { personBounds } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { keepsName } from '../accounts/user.ts';
import type { PersonNames } from '../devices/judges.ts';
import type { DeviceRecord } from '../devices/records.ts';
import type { Reader, Store } from '../store/store.ts';
import { GROUPS, type Groups, groupsIn } from './policy.ts';
import type { PersonRecord } from './records.ts';

/** The groups of persons. */
export const readGroups = async (store: Pick<Reader, 'document'>): Promise<Groups> =>
  groupsIn(await store.document(GROUPS));

/** The person with this id; null if there is none. */
export async function personWith(store: Pick<Reader, 'person'>, personId: string): Promise<PersonRecord | null> {
  const number = personIds.parse(personId);
  return number === null ? null : store.person(number);
}

/** The person with this id. Throws an `ApiError` if there is none. */
export async function requirePerson(store: Pick<Reader, 'person'>, personId: string): Promise<PersonRecord> {
  const person = await personWith(store, personId);
  if (!person) throw new ApiError(404, 'person does not exist');
  return person;
}

/** The person to whom a device belongs. */
export const personOf = async (
  store: Pick<Reader, 'person'>,
  { person }: Pick<DeviceRecord, 'person'>,
): Promise<PersonRecord | null> => (person === null ? null : store.person(person));

/** Who keeps a person from getting a new user name, for messages; null if the person can have it. */
export async function nameTakenBy(
  store: Pick<Reader, 'peopleNamed' | 'usersNamed' | 'isUnmatched'>,
  { number, userKey }: PersonRecord,
  to: string,
): Promise<string | null> {
  if (personKey(to) === userKey) return null;
  const [persons, accounts, isUnmatched] = await Promise.all([
    store.peopleNamed(to),
    store.usersNamed(to),
    store.isUnmatched(to),
  ]);
  const other = persons.find(person => person.number !== number);
  if (other) return `${other.active ? 'another person' : 'a person who has left'} has the user name`;
  if (isUnmatched) return 'devices without a person have the user name: see people match';
  return accounts.some(keepsName) ? 'a local account has the user name' : null;
}

/** Persons of one read. */
const LOOKUP = 1000;

/** All persons with these `personKey`s, removed ones too. */
export async function personsByKey(
  store: Pick<Store, 'people'>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly PersonRecord[]>> {
  const found: PersonRecord[] = [];
  for (let at = 0; at < keys.length; at += personBounds.named) {
    const userKeys = keys.slice(at, at + personBounds.named);
    for (let after = 0; ; ) {
      const window = { descending: false, offset: 0, limit: LOOKUP };
      const { rows } = await store.people({ userKeys, after, ...window });
      found.push(...rows);
      if (rows.length < LOOKUP) break;
      after = rows.at(-1)!.number;
    }
  }
  return Map.groupBy(found, ({ userKey }) => userKey);
}

const window = { after: 0, descending: false, offset: 0 };

/** Reads the names of persons for exports of devices. */
export const personNames = (store: Pick<Store, 'people'>): PersonNames => ({
  hasPersons: async () => (await store.people({ ...window, limit: 1 })).total > 0,
  namesOf: async persons => {
    const numbers = [...new Set(persons)];
    const names = new Map<number, string | null>();
    for (let at = 0; at < numbers.length; at += personBounds.named) {
      const some = numbers.slice(at, at + personBounds.named);
      const { rows } = await store.people({ ...window, numbers: some, limit: some.length });
      for (const { number, name } of rows) names.set(number, name);
    }
    return names;
  },
});
