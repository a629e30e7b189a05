/** Users of SCIM 2.0: persons of the registry. */
import { personIds } from '../../src/contract/ids.ts';
import { isObject } from '../../src/contract/json-object.ts';
import { personKey } from '../../src/contract/person-key.ts';
import * as domain from '../people/decisions.ts';
import { personPortions } from '../people/leavers.ts';
import { nameTakenBy, readGroups } from '../people/lookups.ts';
import type { PersonRecord } from '../people/records.ts';
import { retrying } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import type { ScimError } from './error.ts';
import type { Filter } from './filter.ts';
import { lowerCased, requiredText } from './matching.ts';
import { PersonPages } from './person-pages.ts';
import {
  matching,
  notFound,
  requireVersion,
  type ScimRequest,
  ScimResources,
  type ScimWindow,
  taken,
} from './resources.ts';
import { groupFinder, patchUser, type ReadUser, readUser, userResource } from './users.ts';

const SOURCE = 'scim';

/** Users; see `ScimResources`. */
export class ScimUsers extends ScimResources {
  readonly #pages = new PersonPages(this.store);

  async show(id: string, { base }: ScimRequest) {
    const [person, groups] = await Promise.all([this.#person(id), readGroups(this.store)]);
    return userResource(person, groupFinder(groups), base, await this.parts.leavers.lockedDevices(person));
  }

  async list(window: ScimWindow, { base }: ScimRequest) {
    const { filter, startIndex, count } = window;
    const groups = groupFinder(await readGroups(this.store));
    const shown = (person: PersonRecord) => userResource(person, groups, base);
    const { rows, total } =
      filter === null
        ? await this.#pages.read(startIndex - 1, count)
        : await matching(this.#candidates(filter), person => lowerCased(shown(person)), filter, window);
    return { rows: rows.map(shown), total };
  }

  async create(request: ScimRequest) {
    const { user, left } = readUser(request.body, null);
    const { active, ...given } = user;
    return this.changes.run(personKey(given.userName), async () => {
      const number = await retrying(async () => {
        const named = await this.store.peopleNamed(given.userName);
        const existing = named.find(({ removedAt }) => removedAt === null);
        if (existing) {
          // The person leaves although it cannot be created a second time.
          if (active === false && existing.externalId === given.externalId) await this.#leave(request, existing, false);
          throw taken('userName', given.userName);
        }
        if (await this.#isKnown(given.externalId, null)) throw taken('externalId', given.externalId!);
        const back = domain.removedAs(named, given.externalId);
        if (back) return this.#save(request, back, { user: { ...given, active: true }, left });
        const added = [domain.create({ ...given, groups: [], source: SOURCE }), ...this.#listed(given.userName, left)];
        const [result] = await this.commit(request, added);
        if (result?.kind !== 'added') throw taken('userName', given.userName);
        return result.number;
      });
      const id = personIds.format(number);
      if (active === false) await retrying(async () => this.#leave(request, await this.#person(id), false));
      return this.show(id, request);
    });
  }

  replace(id: string, request: ScimRequest) {
    return this.#change(id, request, person => readUser(request.body, person));
  }

  patch(id: string, request: ScimRequest) {
    return this.#change(id, request, person => patchUser(person, request.body));
  }

  /** The person stays in the registry as one who has left. SCIM no longer returns the person. */
  async remove(id: string, request: ScimRequest): Promise<null> {
    return this.alone(id, async () => {
      const person = await this.#person(id);
      requireVersion(request, person.version);
      await this.#leave(request, person, true);
      return null;
    });
  }

  async #change(id: string, request: ScimRequest, read: (person: PersonRecord) => ReadUser) {
    await this.alone(id, async () => {
      const person = await this.#person(id);
      requireVersion(request, person.version);
      const wanted = read(person);
      const { user, left } = wanted;
      const { userName, externalId } = user;
      const isNameTaken = userName !== person.pendingName && (await nameTakenBy(this.store, person, userName)) !== null;
      const isOther = domain.isSomeoneElse(person, user) || (await this.#isKnown(externalId, person));
      const refused = [
        ...(isNameTaken ? [taken('userName', userName)] : []),
        ...(isOther ? [taken('externalId', externalId!)] : []),
      ];
      // Someone who leaves does so whatever else the request contains: what others have is left out.
      if (user.active !== false && refused.length > 0) throw refused[0];
      const kept = {
        userName: isNameTaken ? person.userName : userName,
        externalId: isOther ? person.externalId : externalId,
      };
      await this.#save(request, person, { user: { ...user, ...kept }, left: [...left, ...refused] });
    });
    return this.show(id, request);
  }

  /** Whether a present person of the provider has this `externalId`. `person`: who asks for it; null for a new one. */
  async #isKnown(externalId: string | null, person: PersonRecord | null): Promise<boolean> {
    if (externalId === null || externalId === person?.externalId) return false;
    const wanted = { externalId, source: SOURCE, isPresent: true } as const;
    const { total } = await this.store.people({ ...wanted, descending: false, offset: 0, limit: 1 });
    return total > 0;
  }

  /** Changes the person in one commit. A new user name together with leaving takes two commits, the name first. */
  async #save(request: ScimRequest, person: PersonRecord, wanted: ReadUser): Promise<number> {
    const { active, ...details } = wanted.user;
    const set = { ...details, source: SOURCE } as const;
    const mayReturn = active && !domain.isEndedHere(person);
    const back = mayReturn ? domain.comesBack(person, await this.parts.leavers.lockedDevices(person), set) : null;
    const change = back ?? domain.edit(person, set);
    const edited = change && (await this.parts.leavers.braked(change));
    const changes: Change[] = [...(edited ? [edited] : []), ...this.#listed(person.userName, wanted.left)];
    if (active !== false) {
      if (changes.length > 0) await this.commit(request, changes);
      return person.number;
    }
    if (edited?.renamed) {
      await this.commit(request, changes);
      await this.#leave(request, await this.#person(personIds.format(person.number)), false);
    } else await this.#leave(request, person, false, changes);
    return person.number;
  }

  /** Lists what was left out. */
  #listed(userName: string, left: readonly ScimError[]): Change[] {
    const found = left.map(({ field, message: reason }) => ({ userName, field, reason }));
    return this.parts.refused.changes(SOURCE, found);
  }

  async #leave(
    request: ScimRequest,
    person: PersonRecord,
    isRemoved: boolean,
    before: readonly Change[] = [],
  ): Promise<void> {
    const reason = domain.leaverReason(SOURCE);
    const step = { step: 'leave', reason, endedBy: 'source', isRemoved } as const;
    await this.commit(request, [...before, ...(await this.parts.leavers.changes([person], step))]);
  }

  /** Whom a request is about, for the list of refused ones; null if it names no person. */
  async nameIn([kind, id]: readonly string[], body: unknown): Promise<string | null> {
    if (kind !== 'Users') return null;
    if (id) return (await this.person(id))?.userName ?? null;
    const name = isObject(body) ? (lowerCased(body) as { readonly username?: unknown }).username : null;
    return typeof name === 'string' ? name : null;
  }

  async #person(id: string): Promise<PersonRecord> {
    const person = await this.person(id);
    if (!person) throw notFound(id);
    return person;
  }

  /** Persons who can match the filter; found by an index if the filter requires a name or an id. */
  async *#candidates(filter: Filter): AsyncGenerator<readonly PersonRecord[]> {
    const userName = requiredText(filter, 'username');
    const id = requiredText(filter, 'id');
    const externalId = requiredText(filter, 'externalid');
    if (userName !== null || id !== null) {
      const person = userName === null ? await this.person(id!) : await this.store.personByName(userName);
      yield person?.removedAt === null ? [person] : [];
    } else yield* personPortions(this.store, { ...(externalId === null ? {} : { externalId }), isPresent: true });
  }
}
