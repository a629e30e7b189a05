import { ApiError } from '../../src/contract/codes.ts';
import type { BodyOf, DataOf, QueryOf } from '../../src/contract/define.ts';
import { userIds } from '../../src/contract/ids.ts';
import { paging } from '../../src/contract/limits.ts';
import { toPage } from '../../src/contract/paging.ts';
import type * as api from '../../src/contract/users.ts';
import { KeyedMutex } from '../concurrency.ts';
import type { Commit, Entry, Guard, Store, UserRecord, UserSet } from '../store/store.ts';
import { actorOf, type Context, retrying } from './context.ts';
import type { Passwords } from './passwords.ts';
import * as present from './present.ts';

export interface UserServiceParts {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly now: () => number;
  /** Told when a password has been changed, with the user's number: the file with the first one is then removed. */
  readonly onPasswordChanged?: (user: number) => Promise<void>;
}

export class UserService {
  readonly #parts: UserServiceParts;
  readonly #changes = new KeyedMutex<string>();

  constructor(parts: UserServiceParts) {
    this.#parts = parts;
  }

  async create(context: Context, body: BodyOf<typeof api.createUser>): Promise<api.User> {
    const email = body.email ?? null;
    const user = {
      username: body.username,
      passwordHash: await this.#parts.passwords.hash(body.password),
      role: body.role,
      email,
      disabled: false,
    };
    const at = this.#parts.now();
    const [outcome] = await this.#parts.store.commit({
      ...head(context, at),
      changes: [
        {
          kind: 'user.add',
          user,
          entry: { type: 'USER_CREATED', detail: { username: body.username, role: body.role, email } },
        },
      ],
    });
    if (outcome?.kind !== 'added') throw new ApiError(1001, `username ${body.username} already exists`);
    return present.user({ ...user, number: outcome.number, createdAt: at, tokenEpoch: 0 });
  }

  async list(query: QueryOf<typeof api.listUsers>): Promise<DataOf<typeof api.listUsers>> {
    const { page = paging.page, size = paging.size } = query;
    const window = { descending: query.sortOrder !== 'asc', offset: (page - 1) * size, limit: size };
    const { rows, total } = await this.#parts.store.users(window);
    return toPage(rows.map(present.user), total, page, size) as DataOf<typeof api.listUsers>;
  }

  async update(context: Context, userId: string, body: BodyOf<typeof api.updateUser>): Promise<api.User> {
    return this.#change(userId, async () => {
      const user = await this.#user(userId);
      const set = changed(user, body);
      if (Object.keys(set).length === 0) return present.user(user);
      const losesAdmin =
        user.role === 'ADMIN' && !user.disabled && ((set.role ?? 'ADMIN') !== 'ADMIN' || set.disabled === true);
      const others = (await this.#parts.store.admins()).some(admin => admin.number !== user.number);
      if (losesAdmin && !others)
        throw new ApiError(1001, `${set.disabled ? 'disabled' : 'role'}: ${user.username} is the last enabled ADMIN`);
      // Once enabled again, tokens from before the disabling stay dead.
      const revoke = set.disabled === true;
      const entry = { type: 'USER_UPDATED', detail: { username: user.username, after: { ...set } } } as const;
      await this.#set(
        context,
        user,
        { set, revoke, entry },
        losesAdmin ? [{ kind: 'another-admin', beside: user.number }] : [],
      );
      return present.user({ ...user, ...set });
    });
  }

  /** One's own needs the old one; an ADMIN sets that of others without. */
  async setPassword(context: Context, userId: string, body: BodyOf<typeof api.setPassword>): Promise<api.User> {
    const found = await this.#user(userId);
    if (found.number === context.caller.user?.number) {
      if (!body.oldPassword) throw new ApiError(1001, 'oldPassword is required');
      await this.#parts.passwords.confirm(context, 'oldPassword', body.oldPassword, [found]);
    }
    const passwordHash = await this.#parts.passwords.hash(body.password);
    const user = await this.#change(userId, async () => {
      const user = await this.#user(userId);
      // The old password was checked against `found`: another change in between makes that check worthless.
      if (body.oldPassword && user.tokenEpoch !== found.tokenEpoch) throw new ApiError(1003, 'oldPassword is wrong');
      const entry = { type: 'PASSWORD_CHANGED', detail: { username: user.username } } as const;
      await this.#set(context, user, { set: { passwordHash }, revoke: true, entry });
      return user;
    });
    await this.#parts.onPasswordChanged?.(user.number);
    return present.user(user);
  }

  /** Every token given out so far stops being good; the password stays. */
  async logout(context: Context, userId: string): Promise<api.User> {
    return this.#change(userId, async () => {
      const user = await this.#user(userId);
      const entry = { type: 'USER_LOGGED_OUT', detail: { username: user.username } } as const;
      await this.#set(context, user, { set: {}, revoke: true, entry });
      return present.user(user);
    });
  }

  /** One after the other for each user: an answer tells what the change before it has left. */
  #change<T>(userId: string, attempt: () => Promise<T>): Promise<T> {
    return this.#changes.run(userId, () => retrying(attempt));
  }

  /** Commits where nobody has revoked the user's tokens since `user` was read. */
  async #set(
    context: Context,
    { number, tokenEpoch }: UserRecord,
    what: { readonly set: UserSet; readonly revoke: boolean; readonly entry: Entry },
    guards: readonly Guard[] = [],
  ): Promise<void> {
    await this.#parts.store.commit({
      ...head(context, this.#parts.now()),
      changes: [{ kind: 'user.set', user: number, ...what }],
      guards: [{ kind: 'user', user: number, tokenEpoch }, ...guards],
    });
  }

  async #user(userId: string): Promise<UserRecord> {
    const number = userIds.parse(userId);
    const user = number === null ? null : await this.#parts.store.user(number);
    if (!user) throw new ApiError(404, 'user does not exist');
    return user;
  }
}

function head(context: Context, at: number): Pick<Commit, 'at' | 'actor' | 'requestId'> {
  return { at, actor: actorOf(context), requestId: context.requestId };
}

function changed(user: UserRecord, body: BodyOf<typeof api.updateUser>): UserSet {
  return {
    ...(body.role === undefined || body.role === user.role ? {} : { role: body.role }),
    ...(body.email === undefined || body.email === user.email ? {} : { email: body.email }),
    ...(body.disabled === undefined || body.disabled === user.disabled ? {} : { disabled: body.disabled }),
  };
}
