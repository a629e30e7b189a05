import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { personIds } from '../../src/contract/ids.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import type * as api from '../../src/contract/users.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { iso } from '../base/time.ts';
import type { UserRecord } from '../requests/callers.ts';
import { accept, type Context, commitLast, retrying, Service, type ServiceParts, timeOf } from '../requests/context.ts';
import { readPage } from '../store/page.ts';
import type { Store } from '../store/store.ts';
import { readUser } from './lookups.ts';
import { checkNewPassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';
import * as present from './present.ts';
import * as domain from './user.ts';
import { isOfProvider } from './user.ts';

/** Absent: a registry without persons. */
interface PersonReads {
  readonly personsByKey?: (
    keys: readonly string[],
  ) => Promise<ReadonlyMap<string | number, { readonly number: number }>>;
}

/** Dependencies of the service. */
interface UserServiceParts extends ServiceParts<Store & PersonReads> {
  readonly passwords: Passwords;
  /** Reads until when users may register a key with the password alone, in milliseconds since 1970; null if one may not. */
  readonly registrations: () => Promise<(user: UserRecord) => number | null>;
  /** Called with the user's number after a password change: the file with the first administrator's password is then removed. */
  readonly onPasswordChanged?: (user: number) => Promise<void>;
}

/** The operations on users. A refusal is thrown as an `ApiError`. */
export class UserService extends Service<UserServiceParts> {
  readonly #changes = new KeyedMutex<string>();

  async create(context: Context, body: Body<'createUser'>): Promise<api.User> {
    await checkNewPassword(body.password, body.username);
    const email = body.email ?? null;
    const user = {
      username: body.username,
      passwordHash: await this.parts.passwords.hash(body.password),
      role: body.role,
      email,
      disabled: false,
    };
    const at = this.now();
    return commitLast(this.store, context, { at, changes: [domain.create(user)] }, ([result]) => {
      if (result?.kind !== 'added') throw inputError('username', `${body.username} already exists`);
      return present.user({ ...user, number: result.number, createdAt: timeOf(result, at), tokenEpoch: 0 });
    });
  }

  async list(query: Query<'listUsers'>): Promise<Data<'listUsers'>> {
    const { list, pagination } = await readPage(query, window => this.store.users(window));
    const owners = await this.store.keyOwners(list.map(({ number }) => number));
    const registrationUntil = await this.parts.registrations();
    const given = new Map(list.filter(domain.isGiven).map(({ number, userKey }) => [number, userKey]));
    const persons = given.size > 0 ? await this.store.personsByKey?.([...new Set(given.values())]) : undefined;
    const listed = list.map(row => {
      const hasKey = owners.has(row.number);
      const until = hasKey ? null : registrationUntil(row);
      const person = persons?.get(given.get(row.number) ?? '');
      const owner = person && { personId: personIds.format(person.number) };
      const sso = isOfProvider(row) && { sso: true };
      return {
        ...present.user(row),
        ...owner,
        ...sso,
        hasKey,
        ...(until !== null && { registrationUntil: iso(until) }),
      };
    });
    return { list: listed, pagination };
  }

  async update(context: Context, userId: string, body: Body<'updateUser'>): Promise<api.User> {
    return this.#change(userId, async () => {
      const user = await readUser(this.store, userId);
      const set = domain.differences(user, body);
      if (Object.keys(set).length === 0) return present.user(user);
      const otherAdmins = (await this.store.admins()).some(admin => admin.number !== user.number);
      return this.#commit(context, accept(domain.edit(user, set, otherAdmins)), { ...user, ...set });
    });
  }

  /** A user's own password change needs the old password; an ADMIN changes those of others without it. */
  async setPassword(context: Context, userId: string, body: Body<'setPassword'>): Promise<api.User> {
    await checkNewPassword(body.password, null);
    const found = await readUser(this.store, userId);
    if (isOfProvider(found))
      throw new ApiError(
        Code.parameterError,
        `${found.username} signs in at the provider of single sign-on, without a password`,
      );
    await checkNewPassword(body.password, found.username);
    if (found.number === context.caller.user?.number) {
      if (!body.oldPassword) throw inputError('oldPassword', 'is required');
      await this.parts.passwords.confirm(context, 'oldPassword', body.oldPassword, [found]);
    }
    const passwordHash = await this.parts.passwords.hash(body.password);
    const changed = await this.#change(userId, async () => {
      const user = await readUser(this.store, userId);
      // The old password was compared with that of `found`. If the user was changed since, the comparison is not valid.
      if (body.oldPassword && user.tokenEpoch !== found.tokenEpoch)
        throw new ApiError(Code.wrongPassword, 'oldPassword is wrong');
      return this.#commit(context, domain.changePassword(user, passwordHash), user);
    });
    await this.parts.onPasswordChanged?.(found.number);
    return changed;
  }

  /** Revokes every token issued earlier; the password stays. */
  async logout(context: Context, userId: string): Promise<api.User> {
    return this.#change(userId, async () => {
      const user = await readUser(this.store, userId);
      return this.#commit(context, domain.logOut(user), user);
    });
  }

  /** The changes of a user in this process run one after the other, so that only those of other daemons undo a decision. */
  #change<T>(userId: string, attempt: () => Promise<T>): Promise<T> {
    return this.#changes.run(userId, () => retrying(attempt));
  }

  /** Returns the user as the operation shows it after the change. */
  #commit(
    context: Context,
    { change, guards }: domain.UserDecision,
    shown: Parameters<typeof present.user>[0],
  ): Promise<api.User> {
    const at = this.now();
    return commitLast(this.store, context, { at, changes: [change], guards }, () => present.user(shown));
  }
}
