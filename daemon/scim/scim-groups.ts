/** Groups of SCIM 2.0: groups of persons, and their members in portions. */
import { groupIds, personIds } from '../../src/contract/ids.ts';
import { personBounds } from '../../src/contract/limits.ts';
import { Refusal } from '../base/decision.ts';
import { edit } from '../people/decisions.ts';
import { personPortions } from '../people/leavers.ts';
import { readGroups } from '../people/lookups.ts';
import * as domain from '../people/policy.ts';
import type { PersonRecord } from '../people/records.ts';
import { retrying } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import { badRequest } from './error.ts';
import type { Filter } from './filter.ts';
import { groupResource, isGroupId, memberOf, patchGroup, readGroup } from './groups.ts';
import { comparisons, lowerCased } from './matching.ts';
import {
  matching,
  notFound,
  part,
  requireVersion,
  type ScimRequest,
  ScimResources,
  type ScimWindow,
  taken,
} from './resources.ts';

/** Persons of one commit: more would hold the requests of others. */
const PORTION = 100;
/** Members in a list of groups. It ends before the group that would exceed them; the next page begins with it. */
const MAX_LISTED = 5000;

/** Groups; see `ScimResources`. */
export class ScimGroups extends ScimResources {
  async show(id: string, request: ScimRequest, withMembers: boolean) {
    return this.#shownGroup((await this.#group(id)).group, request, withMembers);
  }

  async list(window: ScimWindow, request: ScimRequest, withMembers: boolean) {
    const { filter } = window;
    const { list } = await readGroups(this.store);
    const { rows, total } =
      filter === null ? part(list, window) : await this.#matchingGroups(list, filter, window, request.base);
    const shown: ReturnType<typeof groupResource>[] = [];
    let members = 0;
    for (const group of rows) {
      const resource = await this.#shownGroup(group, request, withMembers);
      members += resource.members?.length ?? 0;
      if (members > MAX_LISTED && shown.length > 0) break;
      shown.push(resource);
    }
    return { rows: shown, total };
  }

  async create(request: ScimRequest) {
    const { name, externalId, members } = readGroup(request.body);
    const record = await retrying(async () => {
      const groups = await readGroups(this.store);
      if (domain.groupNamed(groups, name)) throw taken('displayName', name);
      const added = domain.addGroup(groups, name, externalId, this.now());
      if (added instanceof Refusal) throw badRequest('tooMany', added.message);
      await this.#save(request, added, { replace: members, add: [], remove: [] });
      return added.record;
    });
    return this.#shownGroup(record, request);
  }

  replace(id: string, request: ScimRequest) {
    const { members, ...given } = readGroup(request.body);
    return this.#change(id, request, () => ({ ...given, replace: members, add: [], remove: [] }));
  }

  patch(id: string, request: ScimRequest) {
    return this.#change(id, request, group => patchGroup(group, request.body));
  }

  async remove(id: string, request: ScimRequest): Promise<null> {
    return this.alone(id, async () => {
      const { groups, group } = await this.#group(id);
      requireVersion(request, group.version);
      const members = await this.#memberIds(group.number);
      const none = new Set<string>();
      await this.#commitMembers(request, group.number, members.slice(PORTION), none);
      const others = await this.#memberChanges(members.slice(0, PORTION), group.number, none);
      await this.commit(request, [domain.removeGroup(groups, group), ...others]);
      return null;
    });
  }

  async #change(id: string, request: ScimRequest, read: (group: domain.GroupRecord) => ReturnType<typeof patchGroup>) {
    const record = await this.alone(id, async () => {
      const { groups, group } = await this.#group(id);
      requireVersion(request, group.version);
      const { name, externalId, ...members } = read(group);
      const other = domain.groupNamed(groups, name);
      if (other && other.number !== group.number) throw taken('displayName', name);
      const changed = domain.changeGroup(groups, group, { name, externalId }, this.now());
      await this.#save(request, changed, members);
      return changed.record;
    });
    return this.#shownGroup(record, request);
  }

  /**
   * The group and its members; those of a large change follow in further commits, and a repeated request continues. Refuses
   * persons who are not known before it changes anything.
   */
  async #save(
    request: ScimRequest,
    { record, change }: domain.GroupsChanged,
    { replace, add, remove }: Omit<ReturnType<typeof patchGroup>, 'name' | 'externalId'>,
  ): Promise<void> {
    const present = replace === null ? [] : await this.#memberIds(record.number);
    const given = [...(replace ?? []), ...add];
    const wanted = new Set(given.filter(id => !isGroupId(id)));
    const nested = given.filter(isGroupId).map(id => `${id} is a group in ${record.name}: its members are not added`);
    const left = nested.map(reason => ({ userName: null, field: 'members', reason }));
    const ids = [...new Set([...wanted, ...remove, ...present])];
    for (const id of [...wanted].slice(PORTION)) await this.#memberChange(id, record.number, true);
    const first = await this.#memberChanges(ids.slice(0, PORTION), record.number, wanted);
    await this.commit(request, [change, ...first, ...this.parts.refused.changes('scim', left)]);
    await this.#commitMembers(request, record.number, ids.slice(PORTION), wanted);
  }

  /** In portions. `wanted`: those of them who become or stay members. */
  async #commitMembers(request: ScimRequest, group: number, ids: readonly string[], wanted: ReadonlySet<string>) {
    for (let at = 0; at < ids.length; at += PORTION)
      await retrying(async () => {
        const changes = await this.#memberChanges(ids.slice(at, at + PORTION), group, wanted);
        if (changes.length > 0) await this.commit(request, changes);
      });
  }

  async #memberChanges(ids: readonly string[], group: number, wanted: ReadonlySet<string>): Promise<Change[]> {
    const changes: Change[] = [];
    for (const id of ids) changes.push(...(await this.#memberChange(id, group, wanted.has(id))));
    return changes;
  }

  async #memberChange(id: string, group: number, isMember: boolean): Promise<Change[]> {
    const person = await this.person(id);
    if (!isMember) return person ? without(person, group) : [];
    if (!person) throw badRequest('invalidValue', `members: ${id} does not exist`);
    const groups = [...new Set([...person.groups, group])].sort((a, b) => a - b);
    if (groups.length > personBounds.groupsOfPerson)
      throw badRequest('tooMany', `${id} is in ${person.groups.length} groups, the maximum`);
    return asChange(edit(person, { groups }));
  }

  async #group(id: string) {
    const groups = await readGroups(this.store);
    const group = groups.list.find(({ number }) => number === groupIds.parse(id));
    if (!group) throw notFound(id);
    return { groups, group };
  }

  async #shownGroup(group: domain.GroupRecord, { base }: ScimRequest, withMembers = true) {
    const members = withMembers ? await this.#members(group.number, person => memberOf(person, base)) : undefined;
    return groupResource(group, base, members);
  }

  /** Shown in portions: all at once, 100,000 would hold the event loop. */
  async #members<T>(group: number, shown: (person: PersonRecord) => T): Promise<T[]> {
    const found: T[] = [];
    for await (const persons of personPortions(this.store, { group, isPresent: true }))
      found.push(...persons.map(shown));
    return found;
  }

  #memberIds(group: number): Promise<string[]> {
    return this.#members(group, ({ number }) => personIds.format(number));
  }

  /** Members are compared by their ids: those that the filter names are looked up. */
  async #matchingGroups(list: readonly domain.GroupRecord[], filter: Filter, window: ScimWindow, base: string) {
    const named = comparisons(filter, 'members');
    if (named.some(one => one.kind === 'present' || one.operator !== 'eq'))
      throw badRequest('invalidFilter', 'members are compared by eq only');
    const ids = named.map(one => (one.kind === 'compare' ? String(one.value) : ''));
    const persons = (await Promise.all(ids.map(id => this.person(id)))).filter(person => person !== null);
    const shown = (group: domain.GroupRecord) =>
      lowerCased(
        groupResource(
          group,
          base,
          persons.filter(({ groups }) => groups.includes(group.number)).map(person => memberOf(person, base)),
        ),
      );
    return matching([list], shown, filter, window);
  }
}

const asChange = (change: Change | null): Change[] => (change ? [change] : []);
const without = (person: PersonRecord, group: number): Change[] =>
  asChange(edit(person, { groups: person.groups.filter(number => number !== group) }));
