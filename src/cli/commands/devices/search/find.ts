/** Matches of a text: devices and persons by the server's own search, users and application versions by reading their newest records. */
import type { AppVersion } from '../../../../contract/apps.ts';
import { Code } from '../../../../contract/codes.ts';
import type { QueryOf } from '../../../../contract/define.ts';
import type { DeviceListItem } from '../../../../contract/devices.ts';
import { deviceIds } from '../../../../contract/ids.ts';
import { paging } from '../../../../contract/limits.ts';
import type { Person } from '../../../../contract/people.ts';
import { personKey } from '../../../../contract/person-key.ts';
import type { Routes } from '../../../../contract/routes.ts';
import type { User } from '../../../../contract/users.ts';
import { deviceListFields } from '../../../../contract/values.ts';
import type { Client } from '../../../client/client.ts';
import { nullIfRefused } from '../../../client/failures.ts';
import { pagesOf, type ServerPage } from '../../../client/pages.ts';
import { ifKnown, personsWith } from '../../../framework/persons.ts';

/** A group of matches. */
export interface Group<T> {
  /** Number of matches, of which `list` has the first. */
  readonly total: number;
  readonly list: readonly T[];
}

/** A group that is found by reading records. */
interface ReadGroup<T> extends Group<T> {
  /** False if there are older records, which were not read. */
  readonly complete: boolean;
}

/** Matches of `devmgr search`. */
export interface SearchResults {
  /** By deviceId or serial number; a device that is named exactly comes first. */
  readonly devices: Group<DeviceListItem>;
  /** By the user they are bound to: the text is the userId, or the id, name or e-mail address of a user. */
  readonly boundDevices: Group<DeviceListItem>;
  /** By id, name or e-mail address. Null if the caller may not list users. */
  readonly users: ReadGroup<User> | null;
  /** By id, user name, name, externalId or e-mail address. Null if the caller may not list persons, or the server did not return them. */
  readonly people: Group<Person> | null;
  /** By id, version, name, platform or file name. */
  readonly appVersions: ReadGroup<AppVersion>;
}

/** Pages of users and of application versions that are read at most: the limit of 100 queries a minute is for other work, too. */
const mostPages = 5;
/** Users, and application versions, that are searched at most. */
export const searchedRecords = mostPages * paging.maxSize;

/** Searches everything, with at most `limit` records in a group. */
export async function findAll(client: Client, text: string, limit: number): Promise<SearchResults> {
  // Requests at the same time would each read the stored login.
  await client.token();
  const [devices, users, people, appVersions] = await Promise.all([
    findDevices(client, text, limit),
    findUsers(client, text, limit),
    findPeople(client, text, limit),
    findVersions(client, text, limit),
  ]);
  const exact = users?.list.find(user => matchOf([user.id, user.username, user.email], text) === 'whole');
  const boundDevices = await findBound(client, [text, ...(exact ? [exact.id, exact.username] : [])], limit);
  return { devices, boundDevices, users, people, appVersions };
}

/** How the text matches the best of some values; upper and lower case are the same. */
type Match = 'whole' | 'part' | null;

function matchOf(values: readonly (string | null)[], text: string): Match {
  const wanted = text.toLowerCase();
  const lower = values.map(value => value?.toLowerCase() ?? '');
  if (lower.includes(wanted)) return 'whole';
  return lower.some(value => value.includes(wanted)) ? 'part' : null;
}

type Query = Partial<QueryOf<Routes['listDevices']>>;

async function devicesOf(client: Client, query: Query, size: number): Promise<Group<DeviceListItem>> {
  const ordered = { sortBy: 'deviceId', sortOrder: 'asc', size } as const;
  const { list, pagination } = await client.call('listDevices', { query: { ...ordered, ...query } });
  return { list, total: pagination.total };
}

/** The device with exactly this id or serial number may be far behind many that contain the text: then it is looked up. */
async function findDevices(client: Client, text: string, limit: number): Promise<Group<DeviceListItem>> {
  const { list, total } = await devicesOf(client, { keyword: text }, limit);
  const isNamed = ({ deviceId, serialNumber }: DeviceListItem) => matchOf([deviceId, serialNumber], text) === 'whole';
  const named = list.filter(isNamed);
  const others = list.filter(device => !isNamed(device));
  if (named.length > 0 || total <= list.length) return { list: [...named, ...others], total };
  const { list: exact } = await devicesOf(client, { serialNumber: text }, 1);
  const detail = exact.length === 0 && deviceIds.parse(text) !== null ? await detailOf(client, text) : [];
  return { list: [...exact, ...detail, ...others].slice(0, limit), total };
}

async function detailOf(client: Client, deviceId: string): Promise<readonly DeviceListItem[]> {
  const detail = await nullIfRefused(client.call('getDevice', { params: { deviceId } }), Code.deviceNotFound);
  if (detail === null) return [];
  const names = [...deviceListFields, 'personId', 'tags', 'proof'] as const;
  return [Object.fromEntries(names.map(name => [name, detail[name]])) as DeviceListItem];
}

async function findBound(client: Client, names: readonly string[], limit: number): Promise<Group<DeviceListItem>> {
  const different = new Map(names.map(name => [personKey(name), name]));
  const groups = await Promise.all([...different.values()].map(userId => devicesOf(client, { userId }, limit)));
  return {
    total: groups.reduce((sum, { total }) => sum + total, 0),
    list: groups
      .flatMap(({ list }) => list)
      .sort((a, b) => numberOf(a) - numberOf(b))
      .slice(0, limit),
  };
}

const numberOf = ({ deviceId }: DeviceListItem): number => deviceIds.parse(deviceId) ?? 0;

async function findUsers(client: Client, text: string, limit: number): Promise<ReadGroup<User> | null> {
  const matches = ({ id, username, email }: User) => matchOf([id, username, email], text);
  // Only an ADMIN may list users.
  return nullIfRefused(read(pagesOf(client, 'listUsers'), matches, limit), 403, Code.noPermission);
}

async function findPeople(client: Client, keyword: string, limit: number): Promise<Group<Person> | null> {
  const page = await ifKnown(personsWith(client, keyword, { size: limit }));
  return page && { total: page.pagination.total, list: page.list };
}

const findVersions = (client: Client, text: string, limit: number): Promise<ReadGroup<AppVersion>> =>
  read(
    pagesOf(client, 'listAppVersions'),
    ({ versionId, platform, version, versionName, fileName }) =>
      matchOf([versionId, platform, version, versionName, fileName], text),
    limit,
  );

/** The matches among the newest records, those of a whole value first. */
async function read<T>(
  pages: AsyncIterable<ServerPage<T>>,
  match: (record: T) => Match,
  limit: number,
): Promise<ReadGroup<T>> {
  const found: Record<'whole' | 'part', T[]> = { whole: [], part: [] };
  let page = 0;
  let isLast = true;
  for await (const { list, pagination } of pages) {
    for (const record of list) {
      const how = match(record);
      if (how !== null) found[how].push(record);
    }
    isLast = ++page >= pagination.totalPages;
    if (page >= mostPages) break;
  }
  const all = [...found.whole, ...found.part];
  return { total: all.length, list: all.slice(0, limit), complete: isLast };
}
