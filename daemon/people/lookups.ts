/** Persons and groups that requests name. */
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { keepsName } from '../accounts/user.ts';
import type { DeviceRecord } from '../devices/records.ts';
import type { Reader } from '../store/store.ts';
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
