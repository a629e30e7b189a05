/** Reads that several operations begin with. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { deviceIds, personIds, userIds } from '../../src/contract/ids.ts';
import { paging } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { DeviceRecord } from '../domain/device.ts';
import { GROUPS, type Groups, groupsIn } from '../domain/people-policy.ts';
import type { PersonRecord } from '../domain/person.ts';
import { keepsName } from '../domain/sso.ts';
import type { UserRecord } from '../domain/user.ts';
import type { Rows, Window } from '../store/queries.ts';
import type { Reader } from '../store/store.ts';
import { type Context, VersionChanged } from './context.ts';

interface PageQuery {
  readonly page?: number;
  readonly size?: number;
  readonly sortOrder?: 'asc' | 'desc';
}

/** The page of a list that a query names, as the interface shows its rows. */
export async function readPage<R, I>(
  { page = paging.page, size = paging.size, sortOrder }: PageQuery,
  read: (window: Window) => Promise<Rows<R>>,
  show: (row: R) => I,
) {
  const { rows, total } = await read({ descending: sortOrder !== 'asc', offset: (page - 1) * size, limit: size });
  return { list: rows.map(row => show(row)), pagination: { page, size, total, totalPages: Math.ceil(total / size) } };
}

/** The device with this id. Refuses with 2001 if there is none. */
export async function readDevice(store: Pick<Reader, 'device'>, deviceId: string): Promise<DeviceRecord> {
  const number = deviceIds.parse(deviceId);
  const device = number === null ? null : await store.device(number);
  if (!device) throw new ApiError(Code.deviceNotFound);
  return device;
}

/** The device that a request changes. Refuses with 412 if it has another version than the request names. */
export async function readCurrent(
  store: Pick<Reader, 'device'>,
  { version }: Pick<Context, 'version'>,
  deviceId: string,
): Promise<DeviceRecord> {
  const device = await readDevice(store, deviceId);
  if (version !== undefined && version !== device.version) throw new VersionChanged(device);
  return device;
}

/** Guards of a change that also hold the version of the device that the request names. */
export const holdVersion = <G extends { readonly kind: string }>(
  { version }: Pick<Context, 'version'>,
  guards: readonly G[],
): readonly G[] =>
  version === undefined ? guards : guards.map(guard => (guard.kind === 'device' ? { ...guard, version } : guard));

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

/** The user with this id. Refuses with 404 if there is none. */
export async function readUser(store: Pick<Reader, 'user'>, userId: string): Promise<UserRecord> {
  const number = userIds.parse(userId);
  const user = number === null ? null : await store.user(number);
  if (!user) throw new ApiError(404, 'user does not exist');
  return user;
}
