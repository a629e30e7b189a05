/** Users and groups of SCIM 2.0: persons of the registry, and their groups. */
import { groupIds, personIds } from '../../../src/contract/ids.ts';
import { personBounds } from '../../../src/contract/limits.ts';
import { KeyedMutex, TimeSlice } from '../../concurrency.ts';
import { Refusal } from '../../domain/decision.ts';
import * as groupsDomain from '../../domain/people-policy.ts';
import * as domain from '../../domain/person.ts';
import type { Change } from '../../store/commit.ts';
import type { Rows } from '../../store/queries.ts';
import type { Store } from '../../store/store.ts';
import { type Context, commitFor, retrying } from '../context.ts';
import { type Leavers, personPortions } from '../people/leavers.ts';
import { isNameTaken, personWith, readGroups } from '../reads.ts';
import { badRequest, ScimError } from './error.ts';
import type { Filter } from './filter.ts';
import { groupResource, patchGroup, readGroup } from './groups.ts';
import { comparisons, lowerCased, matches, requiredText } from './matching.ts';
import { etagOf, patchUser, readUser, type ScimUser, userResource } from './users.ts';

/** Dependencies of the service. */
interface ScimServiceParts {
  readonly store: Store;
  readonly leavers: Leavers;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A request as the service sees it. */
export interface ScimRequest {
  readonly context: Context;
  /** Address of the service without a slash at its end. */
  readonly base: string;
  readonly body: unknown;
  /** The header If-Match; undefined without. */
  readonly ifMatch: string | undefined;
}

/** A part of a list: from the n-th match on, counted from 1. */
export interface ScimWindow {
  readonly filter: Filter | null;
  readonly startIndex: number;
  readonly count: number;
}

/** A resource, as it is sent. */
export type ScimResource = ReturnType<typeof userResource> | ReturnType<typeof groupResource>;

const SOURCE = 'scim';
/** Persons of one commit: more would hold the requests of others. */
const PORTION = 100;
/** Members in a list of groups. It ends before the group that would exceed them; the next page begins with it. */
const MAX_LISTED = 5000;

const notFound = (id: string): ScimError => new ScimError(404, null, `${id} does not exist`);
const taken = (what: string): ScimError => new ScimError(409, 'uniqueness', `${what} already exists`);

/** Refusals are `ScimError`s. */
export class ScimService {
  readonly #parts: ScimServiceParts;
  readonly #changes = new KeyedMutex<string>();

  constructor(parts: ScimServiceParts) {
    this.#parts = parts;
  }

  async user(id: string, { base }: ScimRequest) {
    const [person, groups] = await Promise.all([this.#person(id), this.#groups()]);
    return userResource(person, groups, base, await this.#parts.leavers.lockedDevices(person));
  }

  async users({ filter, startIndex, count }: ScimWindow, { base }: ScimRequest): Promise<Rows<ScimResource>> {
    const groups = await this.#groups();
    const shown = (person: domain.PersonRecord) => userResource(person, groups, base);
    if (filter === null) {
      const window = { descending: false, offset: startIndex - 1, limit: count };
      const { rows, total } = await this.#parts.store.people({ isPresent: true, ...window });
      return { rows: rows.map(shown), total };
    }
    const found = await matching(this.#candidates(filter), person => lowerCased(shown(person)), filter);
    const { rows, total } = part(found, startIndex, count);
    return { rows: rows.map(shown), total };
  }

  async createUser(request: ScimRequest) {
    const { store } = this.#parts;
    const { active, ...given } = readUser(request.body);
    return this.#changes.run(domain.personKey(given.userName), async () => {
      const number = await retrying(async () => {
        const existing = await store.personByName(given.userName);
        if (existing && existing.removedAt === null) throw taken(`userName ${given.userName}`);
        if (existing) return this.#commitUser(request, existing, { ...given, active: true });
        const [result] = await this.#commit(request, [domain.create({ ...given, groups: [], source: SOURCE })]);
        if (result?.kind !== 'added') throw taken(`userName ${given.userName}`);
        return result.number;
      });
      const id = personIds.format(number);
      if (active === false) await retrying(async () => this.#leave(request, await this.#person(id), false));
      return this.user(id, request);
    });
  }

  replaceUser(id: string, request: ScimRequest) {
    return this.#changeUser(id, request, () => readUser(request.body));
  }

  patchUser(id: string, request: ScimRequest) {
    return this.#changeUser(id, request, person => patchUser(person, request.body));
  }

  /** The person stays in the registry as one who has left. SCIM no longer returns the person. */
  async removeUser(id: string, request: ScimRequest): Promise<null> {
    return this.#alone(id, async () => {
      const person = await this.#person(id);
      requireVersion(request, person.version);
      await this.#leave(request, person, true);
      return null;
    });
  }

  async group(id: string, request: ScimRequest, withMembers: boolean) {
    return this.#shownGroup((await this.#group(id)).group, request, withMembers);
  }

  async groups(
    { filter, startIndex, count }: ScimWindow,
    request: ScimRequest,
    withMembers: boolean,
  ): Promise<Rows<ScimResource>> {
    const { list } = await this.#groups();
    const found = filter === null ? list : await this.#matchingGroups(list, filter, request.base);
    const { rows, total } = part(found, startIndex, count);
    const shown: ScimResource[] = [];
    let members = 0;
    for (const group of rows) {
      const resource = await this.#shownGroup(group, request, withMembers);
      members += resource.members?.length ?? 0;
      if (members > MAX_LISTED && shown.length > 0) break;
      shown.push(resource);
    }
    return { rows: shown, total };
  }

  async createGroup(request: ScimRequest) {
    const { name, externalId, members } = readGroup(request.body);
    const record = await retrying(async () => {
      const groups = await this.#groups();
      if (groupsDomain.groupNamed(groups, name)) throw taken(`displayName ${name}`);
      const added = groupsDomain.addGroup(groups, name, externalId, this.#parts.now());
      if (added instanceof Refusal) throw badRequest('tooMany', added.message);
      await this.#commitGroup(request, added, { replace: members, add: [], remove: [] });
      return added.record;
    });
    return this.#shownGroup(record, request);
  }

  replaceGroup(id: string, request: ScimRequest) {
    const { members, ...given } = readGroup(request.body);
    return this.#changeGroup(id, request, () => ({ ...given, replace: members, add: [], remove: [] }));
  }

  patchGroup(id: string, request: ScimRequest) {
    return this.#changeGroup(id, request, group => patchGroup(group, request.body));
  }

  async removeGroup(id: string, request: ScimRequest): Promise<null> {
    return this.#alone(id, async () => {
      const { groups, group } = await this.#group(id);
      requireVersion(request, group.version);
      const members = await this.#memberIds(group.number);
      const none = new Set<string>();
      await this.#commitMembers(request, group.number, members.slice(PORTION), none);
      const others = await this.#memberChanges(members.slice(0, PORTION), group.number, none);
      await this.#commit(request, [groupsDomain.removeGroup(groups, group), ...others]);
      return null;
    });
  }

  /** One change of a resource at a time. */
  #alone<T>(id: string, change: () => Promise<T>): Promise<T> {
    return this.#changes.run(id, () => retrying(change));
  }

  async #changeUser(id: string, request: ScimRequest, read: (person: domain.PersonRecord) => ScimUser) {
    await this.#alone(id, async () => {
      const person = await this.#person(id);
      requireVersion(request, person.version);
      const wanted = read(person);
      const { userName, active } = wanted;
      const isTaken = await isNameTaken(this.#parts.store, person, userName);
      // A person leaves even if the new name is refused.
      if (active === false && isTaken) await this.#leave(request, person, false);
      if (isTaken) throw taken(`userName ${userName}`);
      await this.#commitUser(request, person, wanted);
    });
    return this.user(id, request);
  }

  /** Changes the person in one commit. A new user name together with leaving takes two commits, the name first. */
  async #commitUser(request: ScimRequest, person: domain.PersonRecord, wanted: ScimUser): Promise<number> {
    const { active, ...details } = wanted;
    const set = { ...details, source: SOURCE } as const;
    const mayReturn = active && !domain.isEndedHere(person);
    const back = mayReturn ? domain.comesBack(person, await this.#parts.leavers.lockedDevices(person), set) : null;
    const edited = back ?? domain.edit(person, set);
    const changes: Change[] = edited ? [edited] : [];
    if (active !== false) {
      if (changes.length > 0) await this.#commit(request, changes);
      return person.number;
    }
    if (edited?.renamed) {
      await this.#commit(request, changes);
      await this.#leave(request, await this.#person(personIds.format(person.number)), false);
    } else await this.#leave(request, person, false, changes);
    return person.number;
  }

  async #leave(
    request: ScimRequest,
    person: domain.PersonRecord,
    isRemoved: boolean,
    before: readonly Change[] = [],
  ): Promise<void> {
    const step = { step: 'leave', reason: domain.leaverReason(SOURCE), isRemoved } as const;
    await this.#commit(request, [...before, ...(await this.#parts.leavers.changes([person], step))]);
  }

  #commit({ context }: ScimRequest, changes: readonly Change[]) {
    const { store, now } = this.#parts;
    return commitFor(store, context, { at: now(), changes });
  }

  async #changeGroup(
    id: string,
    request: ScimRequest,
    read: (group: groupsDomain.GroupRecord) => ReturnType<typeof patchGroup>,
  ) {
    const record = await this.#alone(id, async () => {
      const { groups, group } = await this.#group(id);
      requireVersion(request, group.version);
      const { name, externalId, ...members } = read(group);
      const other = groupsDomain.groupNamed(groups, name);
      if (other && other.number !== group.number) throw taken(`displayName ${name}`);
      const changed = groupsDomain.changeGroup(groups, group, { name, externalId }, this.#parts.now());
      await this.#commitGroup(request, changed, members);
      return changed.record;
    });
    return this.#shownGroup(record, request);
  }

  /**
   * The group and its members; those of a large change follow in further commits, and a repeated request continues. Refuses persons who are not
   * known before it changes anything.
   */
  async #commitGroup(
    request: ScimRequest,
    { record, change }: groupsDomain.GroupsChanged,
    { replace, add, remove }: Omit<ReturnType<typeof patchGroup>, 'name' | 'externalId'>,
  ): Promise<void> {
    const present = replace === null ? [] : await this.#memberIds(record.number);
    const wanted = new Set([...(replace ?? []), ...add]);
    const ids = [...new Set([...wanted, ...remove, ...present])];
    for (const id of [...wanted].slice(PORTION)) await this.#memberChange(id, record.number, true);
    const first = await this.#memberChanges(ids.slice(0, PORTION), record.number, wanted);
    await this.#commit(request, [change, ...first]);
    await this.#commitMembers(request, record.number, ids.slice(PORTION), wanted);
  }

  /** In portions. `wanted`: those of them who become or stay members. */
  async #commitMembers(request: ScimRequest, group: number, ids: readonly string[], wanted: ReadonlySet<string>) {
    for (let at = 0; at < ids.length; at += PORTION)
      await retrying(async () => {
        const changes = await this.#memberChanges(ids.slice(at, at + PORTION), group, wanted);
        if (changes.length > 0) await this.#commit(request, changes);
      });
  }

  async #memberChanges(ids: readonly string[], group: number, wanted: ReadonlySet<string>): Promise<Change[]> {
    const changes: Change[] = [];
    for (const id of ids) changes.push(...(await this.#memberChange(id, group, wanted.has(id))));
    return changes;
  }

  async #memberChange(id: string, group: number, isMember: boolean): Promise<Change[]> {
    const person = await this.#memberNamed(id);
    if (!isMember) return person ? without(person, group) : [];
    if (!person) throw badRequest('invalidValue', `members: ${id} does not exist`);
    const groups = [...new Set([...person.groups, group])].sort((a, b) => a - b);
    if (groups.length > personBounds.groupsOfPerson)
      throw badRequest('tooMany', `${id} is in ${person.groups.length} groups, the maximum`);
    return asChange(domain.edit(person, { groups }));
  }

  async #memberNamed(id: string): Promise<domain.PersonRecord | null> {
    const person = await personWith(this.#parts.store, id);
    return person?.removedAt === null ? person : null;
  }

  async #person(id: string): Promise<domain.PersonRecord> {
    const person = await this.#memberNamed(id);
    if (!person) throw notFound(id);
    return person;
  }

  #groups(): Promise<groupsDomain.Groups> {
    return readGroups(this.#parts.store);
  }

  async #group(id: string) {
    const groups = await this.#groups();
    const group = groups.list.find(({ number }) => number === groupIds.parse(id));
    if (!group) throw notFound(id);
    return { groups, group };
  }

  async #shownGroup(group: groupsDomain.GroupRecord, { base }: ScimRequest, withMembers = true) {
    return groupResource(group, base, withMembers ? await this.#members(group.number) : undefined);
  }

  async #members(group: number): Promise<domain.PersonRecord[]> {
    const found: domain.PersonRecord[] = [];
    for await (const persons of personPortions(this.#parts.store, { group, isPresent: true })) found.push(...persons);
    return found;
  }

  async #memberIds(group: number): Promise<string[]> {
    return (await this.#members(group)).map(({ number }) => personIds.format(number));
  }

  /** Persons who can match the filter; found by an index if the filter requires a name or an id. */
  async *#candidates(filter: Filter): AsyncGenerator<readonly domain.PersonRecord[]> {
    const { store } = this.#parts;
    const userName = requiredText(filter, 'username');
    const id = requiredText(filter, 'id');
    const externalId = requiredText(filter, 'externalid');
    if (userName !== null || id !== null) {
      const person = userName === null ? await this.#memberNamed(id!) : await store.personByName(userName);
      yield person?.removedAt === null ? [person] : [];
    } else yield* personPortions(store, { ...(externalId === null ? {} : { externalId }), isPresent: true });
  }

  /** Members are compared by their ids: those that the filter names are looked up. */
  async #matchingGroups(list: readonly groupsDomain.GroupRecord[], filter: Filter, base: string) {
    const named = comparisons(filter, 'members');
    if (named.some(one => one.kind === 'present' || one.operator !== 'eq'))
      throw badRequest('invalidFilter', 'members are compared by eq only');
    const ids = named.map(one => (one.kind === 'compare' ? String(one.value) : ''));
    const persons = (await Promise.all(ids.map(id => this.#memberNamed(id)))).filter(person => person !== null);
    const shown = (group: groupsDomain.GroupRecord) =>
      lowerCased(
        groupResource(
          group,
          base,
          persons.filter(({ groups }) => groups.includes(group.number)),
        ),
      );
    return matching([list], shown, filter);
  }
}

const asChange = (change: Change | null): Change[] => (change ? [change] : []);
const without = (person: domain.PersonRecord, group: number): Change[] =>
  asChange(domain.edit(person, { groups: person.groups.filter(number => number !== group) }));

/** Refuses with 412 if the request is for another version. */
function requireVersion({ ifMatch }: ScimRequest, version: number): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.split(',').some(tag => tag.trim() === etagOf(version)))
    return;
  throw new ScimError(412, null, `the resource was changed: it has version ${etagOf(version)} now`);
}

async function matching<T>(
  portions: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  shown: (item: T) => unknown,
  filter: Filter,
): Promise<T[]> {
  const found: T[] = [];
  const slice = new TimeSlice();
  for await (const items of portions)
    for (const item of items) {
      if (matches(filter, shown(item) as Record<string, unknown>)) found.push(item);
      if (slice.over) await slice.pass();
    }
  return found;
}

const part = <T>(all: readonly T[], startIndex: number, count: number): Rows<T> => ({
  rows: all.slice(startIndex - 1, startIndex - 1 + count),
  total: all.length,
});
