/** The accounts of people whom the provider signs in. They belong to issuer and sub, and are made at the first sign-in. */

import type { Role } from '../../src/contract/values.ts';
import { create, edit, hashOf, logOut } from '../accounts/user.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import type { UserRecord } from '../requests/callers.ts';
import { retrying } from '../requests/context.ts';
import { SESSIONS } from '../store/caller.ts';
import type { Commit, Guard } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import * as domain from './records.ts';
import { SsoRefused } from './refused.ts';

/** Dependencies of the accounts. `now`: milliseconds since 1970. */
interface SsoAccountParts {
  readonly store: Store;
  readonly now: () => number;
}

type Changes = Pick<Commit, 'changes' | 'guards'>;

/** The actor of changes that follow from reports of the provider. */
const ACTOR = 'provider:sso';

/** A person at the provider, and the name and role of the account here. */
interface Subject extends domain.ProviderSubject {
  /** The name at the provider. */
  readonly name: string | null;
  readonly role: Role;
}

/** Makes and changes accounts. */
export class SsoAccounts {
  readonly #parts: SsoAccountParts;
  readonly #adding = new KeyedMutex<string>();

  constructor(parts: SsoAccountParts) {
    this.#parts = parts;
  }

  /** The account of a person; null if the person has none. */
  async find(subject: domain.ProviderSubject): Promise<UserRecord | null> {
    return (await this.#linked(domain.accountKey(subject))).user;
  }

  /** The guards of what follows from settings with this version of `SESSIONS`. Refuses with 1004 if it has another one now. */
  async guardsOf(version: number): Promise<readonly Guard[]> {
    if ((await this.#parts.store.documentVersion(SESSIONS)) !== version)
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
        const now = await this.#parts.store.user(user.number);
        return this.withRole(now ?? user, person.role, guards, requestId);
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
      await this.commit([add, domain.linkAccount(version, key, username)], guards, requestId);
      const made = await this.#parts.store.userByName(username);
      // Another account got the name at the same time: the next attempt chooses another name.
      return made?.passwordHash === passwordHash ? made : this.#add(key, person, sessions, requestId);
    });
  }

  /** The user with the role that the groups give. */
  async withRole(
    user: UserRecord,
    role: Role,
    guards: readonly Guard[],
    requestId: string | null = null,
  ): Promise<UserRecord | Refusal> {
    if (user.role === role || user.disabled) return user;
    const others = (await this.#parts.store.admins()).some(({ number }) => number !== user.number);
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

  async #linked(key: string): Promise<{ readonly user: UserRecord | null; readonly version: number }> {
    const { store } = this.#parts;
    const document = await store.document(domain.accountDocument(key));
    if (!document) return { user: null, version: 0 };
    const { username } = JSON.parse(document.value) as { username: string };
    const user = await store.userByName(username);
    return { user: user?.passwordHash === hashOf(key) ? user : null, version: document.version };
  }

  /** A name that is taken stays with its account, in upper and lower case. */
  async #freeName(names: readonly string[]): Promise<string> {
    for (const name of names) if ((await this.#parts.store.usersNamed(name)).length === 0) return name;
    return `${names.at(-1)}-${Date.now().toString(36)}`;
  }

  /** Makes changes that follow from reports of the provider. */
  async commit(changes: Changes['changes'], guards: Changes['guards'] = [], requestId: string | null = null) {
    await this.#parts.store.commit({ at: this.#parts.now(), actor: ACTOR, requestId, changes, guards });
  }
}
