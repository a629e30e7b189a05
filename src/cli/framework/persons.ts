/** Persons of the registry: the one that a command is about, and those that devices are bound to. */
import { Code } from '../../contract/codes.ts';
import { personIds } from '../../contract/ids.ts';
import { personBounds } from '../../contract/limits.ts';
import type { Person } from '../../contract/people.ts';
import { isSameName, personKey } from '../../contract/person-key.ts';
import type { Client } from '../client/client.ts';
import { isServerRefusal } from '../client/failures.ts';
import { Fault, isFault, usage } from '../fault.ts';
import { safe } from '../terminal/text.ts';
import { localTime } from '../terminal/when.ts';
import type { ArgShape } from './flags.ts';

/** The argument that names a person. */
export const personArg: ArgShape = {
  name: 'PERSON',
  help: 'user name or id of the person, or a part of the name that matches only one person',
  offer: 'person',
};

/** Persons that are named in an error. */
const MAX_NAMED = 10;
/** Characters of the user names in one request: servers limit the length of a request line. */
const MAX_CHARACTERS = 6000;

/** A person in words. */
export const personWords = ({ userName, name }: Pick<Person, 'userName' | 'name'>): string =>
  name === null ? userName : `${userName} (${name})`;

/** When a person left, and by which source; null if the person has not left. */
export const leftWords = ({ active, leftAt, source }: Person): string | null =>
  active ? null : `left${leftAt === null ? '' : ` on ${localTime(leftAt)}`} (source: ${source})`;

/** The person with this id or user name, else the only one with this part of a name. Faults name the candidates. */
export async function findPerson(registry: Client, named: string): Promise<Person> {
  if (personIds.parse(named) !== null) return registry.call('getPerson', { params: { personId: named } });
  const exact = await personNamed(registry, named);
  if (exact) return exact;
  const { list, pagination } = await personsWith(registry, named);
  if (pagination.total === 0) throw new Fault('absent', `person "${named}" does not exist`, 'see: devmgr people list');
  if (pagination.total > 1) throw severalPersons(named, list, pagination.total);
  return list[0]!;
}

/** The fault for a text that several persons match. */
export function severalPersons(named: string, list: readonly Person[], total: number): Fault {
  const shown = list.slice(0, MAX_NAMED).map(person => safe(personWords(person)));
  return usage(
    `"${named}" matches several persons: ${shown.join(', ')}${total > shown.length ? ', …' : ''}`,
    'use the user name',
  );
}

/** Persons whose names or addresses contain the text. */
export const personsWith = (registry: Client, keyword: string, query: { active?: boolean; size?: number } = {}) =>
  registry.call('listPeople', { query: { ...(keyword === '' ? {} : { keyword }), size: 100, ...query } });

/** The person with this user name, in upper or lower case; null if there is none. */
export async function personNamed(registry: Client, userName: string): Promise<Person | null> {
  const { list } = await registry.call('listPeople', { query: { userName: [userName], size: 1 } });
  const [person] = list;
  // A server of an earlier version ignores the parameter.
  return person && isSameName(person.userName, userName) ? person : null;
}

/** The persons whom these userIds mean. None if the caller may not see persons, or the server has none or fails. */
export async function personsOf(
  registry: Client,
  userIds: Iterable<string | null>,
): Promise<ReadonlyMap<string, Person>> {
  const found = new Map<string, Person>();
  const requests = requestsFor([...new Set(userIds)].filter(userId => userId !== null));
  for (const userName of requests) {
    const page = await ifKnown(registry.call('listPeople', { query: { userName, size: userName.length } }));
    if (page === null) break;
    // A removed person can have the name of another one.
    const persons = new Map(
      page.list.toSorted((a, b) => Number(a.active) - Number(b.active)).map(one => [personKey(one.userName), one]),
    );
    for (const name of userName) if (persons.has(personKey(name))) found.set(name, persons.get(personKey(name))!);
    // A registry without persons is not asked about the others.
    if (userName === requests[0] && requests.length > 1 && page.list.length === 0 && !(await hasPersons(registry)))
      break;
  }
  return found;
}

const hasPersons = async (registry: Client): Promise<boolean> =>
  (await personsWith(registry, '', { size: 1 })).pagination.total > 0;

/** The user names of each request. */
function requestsFor(userNames: readonly string[]): string[][] {
  const requests: string[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const userName of userNames) {
    const size = encodeURIComponent(userName).length;
    const isFull = characters + size > MAX_CHARACTERS || requests.at(-1)!.length >= personBounds.named;
    characters = (isFull ? 0 : characters) + size;
    if (isFull) requests.push([userName]);
    else requests.at(-1)!.push(userName);
  }
  return requests;
}

/** Null if the caller may not see persons, the server is older than they are, or it does not answer: keys are enrolled then, too. */
export async function ifKnown<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (isFault(error, 'unreachable')) return null;
    if (isServerRefusal(error, Code.noPermission, Code.parameterError, 404)) return null;
    throw error;
  }
}

/** The devices with the names of their persons. */
export async function withPersonNames<D extends { readonly userId: string | null }>(
  registry: Client,
  devices: readonly D[],
): Promise<(D & { readonly name: string | null })[]> {
  const persons = await personsOf(
    registry,
    devices.map(({ userId }) => userId),
  );
  return devices.map(device => ({ ...device, name: persons.get(device.userId ?? '')?.name ?? null }));
}
