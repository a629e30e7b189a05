/** The accounts of people whom the provider signs in. They belong to issuer and sub, and are made at the first sign-in. */
import { personIds } from '../../src/contract/ids.ts';
import type { AccountRole } from '../../src/contract/values.ts';
import { create, edit, give, hashOf, isGiven, keyOf, logOut } from '../accounts/user.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import type { UserRecord } from '../requests/callers.ts';
import { retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { KnownPerson, PersonFinder } from '../sign-in/judges.ts';
import { SESSIONS } from '../store/caller.ts';
import type { Commit, Guard } from '../store/commit.ts';
import * as domain from './records.ts';
import { SsoRefused } from './refused.ts';

/** Dependencies of the accounts. */
interface SsoAccountParts extends ServiceParts {
  /** The persons of the registry; undefined if it has none. */
  readonly persons: () => PersonFinder | undefined;
}

type Changes = Pick<Commit, 'changes' | 'guards'>;

/** The actor of changes that follow from reports of the provider. */
const ACTOR = 'provider:sso';

/** A person at the provider, with the name there. */
interface NamedSubject extends domain.ProviderSubject {
  readonly name: string | null;
}

/** What a person may do here. */
interface Admittance {
  readonly role: AccountRole;
  /** Number of the person of the registry that a HOLDER is; null for other roles. */
  readonly holder: number | null;
}

/** A person at the provider, and the role of the account here. */
interface Subject extends NamedSubject, Admittance {}

const problem = (message: string) => new SsoRefused('other', message);

/** Makes and changes accounts. */
export class SsoAccounts extends Service<SsoAccountParts> {
  readonly #adding = new KeyedMutex<string>();

  /** The account of a person; null if the person has none. */
  async find(subject: domain.ProviderSubject): Promise<UserRecord | null> {
    return (await this.#linked(domain.accountKey(subject))).user;
  }

  /** What a person in these groups may do; null if the person may not enter. */
  async admittanceOf(
    config: domain.SsoConfig,
    { sub, name, groups }: { readonly sub: string; readonly name: string | null; readonly groups: readonly string[] },
  ): Promise<Admittance | null> {
    const role = domain.roleOf(config, groups);
    if (role !== null) return { role, holder: null };
    const person = config.holders ? await this.#personOf({ issuer: config.issuer, sub, name }) : null;
    return person && { role: 'HOLDER', holder: person.number };
  }

  /**
   * The active person of the registry that someone at the provider is. The first sign-in decides by the name: a later name, which some
   * providers let people choose, makes no one another person. Someone whose person was erased is a new one, as at a first sign-in.
   */
  async #personOf(subject: NamedSubject): Promise<KnownPerson | null> {
    const persons = this.parts.persons();
    if (!persons) return null;
    const key = domain.accountKey(subject);
    const { person } = await this.#linked(key);
    const linked = person === null ? null : await persons.numbered(person);
    if (linked?.active) return linked;
    const named = subject.name === null ? null : await persons.named(subject.name);
    const isOther = linked && linked.endedBy !== 'erasure' && linked.userKey !== named?.userKey;
    if (!named?.active || isOther) return null;
    const { claim } = await this.#claimOf(named.number);
    if (!claim || claim.key === key || claim.issuer !== subject.issuer) return named;
    const { user } = await this.#linked(claim.key);
    if (user && !user.disabled)
      throw problem(`the person with your user name signs in with the account ${user.username}: ask an administrator`);
    return named;
  }

  /** Number of the person of the registry that the account of a provider is; null if it is none. */
  async holderOf(user: UserRecord): Promise<number | null> {
    const key = keyOf(user);
    return key === null ? null : (await this.#linked(key)).person;
  }

  /** The person of the registry who has signed in with the account at this issuer, and with no other since; null if there is none. */
  async claimedBy(
    user: UserRecord,
    issuer: string,
  ): Promise<{ readonly person: number; readonly guard: Guard } | null> {
    const person = await this.holderOf(user);
    if (person === null) return null;
    const { claim, claimVersion: version } = await this.#claimOf(person);
    if (claim?.key !== keyOf(user) || claim.issuer !== issuer) return null;
    return { person, guard: { kind: 'document', name: domain.holderDocument(person), version } };
  }

  /** The guards of what follows from settings with this version of `SESSIONS`. Refuses with 1004 if it has another one now. */
  async guardsOf(version: number): Promise<readonly Guard[]> {
    if ((await this.store.documentVersion(SESSIONS)) !== version)
      throw new SsoRefused('state', 'single sign-on was changed: sign in again');
    return [{ kind: 'document', name: SESSIONS, version }];
  }

  /**
   * The account of a person, made if there is none, with the role that it has now. `sessions`: the version of `SESSIONS` for which
   * the role was found. A `Refusal` if the last ADMIN would lose the role.
   */
  async enter(person: Subject, sessions: number, requestId: string | null): Promise<UserRecord | Refusal> {
    const key = domain.accountKey(person);
    const { user } = await this.#linked(key);
    if (user)
      return retrying(async () => {
        const guards = await this.guardsOf(sessions);
        const now = (await this.store.user(user.number)) ?? user;
        const { holder } = person;
        if (holder !== null) {
          await this.commit(await this.#linksOf(key, now.username, { ...person, holder }), guards);
          await this.#giveTo(holder, now, guards);
        }
        return this.withRole(now, person.role, guards, requestId);
      });
    // One after the other: two names that differ in upper and lower case are one name.
    return this.#adding.run('', () => this.#add(key, person, sessions, requestId));
  }

  #add(key: string, person: Subject, sessions: number, requestId: string | null): Promise<UserRecord | Refusal> {
    return retrying(async () => {
      const guards = await this.guardsOf(sessions);
      const { user, version } = await this.#linked(key);
      if (user) return this.withRole(user, person.role, guards, requestId);
      const username = await this.#freeName(domain.usernamesFor(person.name, key));
      const passwordHash = hashOf(key);
      const add = create({ username, passwordHash, role: person.role, email: null, disabled: false });
      const { holder } = person;
      const links =
        holder === null
          ? [domain.linkAccount(version, key, { username })]
          : await this.#linksOf(key, username, { ...person, holder });
      await this.commit([add, ...links], guards, requestId);
      const made = await this.store.userByName(username);
      // Another account got the name at the same time: the next attempt chooses another name.
      if (made?.passwordHash !== passwordHash) return this.#add(key, person, sessions, requestId);
      if (holder !== null) await this.#giveTo(holder, made, guards);
      return made;
    });
  }

  /** Gives the account to its person. A leave then ends it, also if it could not get the name of the person. */
  async #giveTo(holder: number, user: UserRecord, more: readonly Guard[]): Promise<void> {
    const persons = this.parts.persons();
    const person = await persons?.numbered(holder);
    if (!persons || !person?.active || user.userKey === person.userKey) return;
    const erased = isGiven(user) ? await persons.named(user.userKey) : null;
    if (isGiven(user) && erased?.endedBy !== 'erasure') return;
    const before = erased && personIds.format(erased.number);
    const { change, guards } = give(user, person.userKey, { before, after: personIds.format(holder) });
    await this.commit([change], [...guards, persons.presence(person), ...more]);
  }

  /** What records that the account is that of a person of the registry; empty if that is recorded. */
  async #linksOf(
    key: string,
    username: string,
    { holder, issuer }: { readonly holder: number; readonly issuer: string },
  ) {
    const [{ person, version }, { claim, claimVersion }] = await Promise.all([
      this.#linked(key),
      this.#claimOf(holder),
    ]);
    return [
      ...(person === holder ? [] : [domain.linkAccount(version, key, { username, person: holder })]),
      ...(claim?.key === key ? [] : [domain.claimPerson(claimVersion, holder, { key, issuer })]),
    ];
  }

  async #claimOf(
    person: number,
  ): Promise<{ readonly claim: domain.HolderClaim | null; readonly claimVersion: number }> {
    const document = await this.store.document(domain.holderDocument(person));
    return { claim: document && JSON.parse(document.value), claimVersion: document?.version ?? 0 };
  }

  /** The user with the role that the groups give. */
  async withRole(
    user: UserRecord,
    role: AccountRole,
    guards: readonly Guard[],
    requestId: string | null = null,
  ): Promise<UserRecord | Refusal> {
    if (user.role === role || user.disabled) return user;
    const others = (await this.store.admins()).some(({ number }) => number !== user.number);
    const decision = edit(user, { role }, others);
    if (decision instanceof Refusal) return decision;
    await this.commit([decision.change], [...decision.guards, ...guards], requestId);
    return { ...user, role };
  }

  /** Ends every session of a user. */
  async logOut(user: UserRecord, more: readonly Guard[]): Promise<void> {
    const { change, guards } = logOut(user);
    await this.commit([change], [...guards, ...more]);
  }

  async #linked(
    key: string,
  ): Promise<{ readonly user: UserRecord | null; readonly person: number | null; readonly version: number }> {
    const document = await this.store.document(domain.accountDocument(key));
    if (!document) return { user: null, person: null, version: 0 };
    const { username, person = null } = JSON.parse(document.value) as domain.AccountLink;
    const user = await this.store.userByName(username);
    return { user: user?.passwordHash === hashOf(key) ? user : null, person, version: document.version };
  }

  /** A name that is taken stays with its account, in upper and lower case. */
  async #freeName(names: readonly string[]): Promise<string> {
    for (const name of names) {
      const named = await this.store.usersNamed(name);
      // An account that was given to a person is found by the name of the person, and has a name of its own, too.
      if (named.length === 0 && !(await this.store.userByName(name))) return name;
    }
    return `${names.at(-1)}-${Date.now().toString(36)}`;
  }

  /** Makes changes that follow from reports of the provider. */
  async commit(changes: Changes['changes'], guards: Changes['guards'] = [], requestId: string | null = null) {
    await this.store.commit({ at: this.now(), actor: ACTOR, requestId, changes, guards });
  }
}
