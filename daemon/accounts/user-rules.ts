/** Rules for the changes and guards of users, and their entries; the rights of the caller of a commit. */
import { userIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type CallerGuard, lostByToken, lostByUser, SESSIONS } from '../store/caller.ts';
import { CallerRefused, Conflict } from '../store/commit.ts';
import { passwordDigest } from '../store/digest.ts';
import { documentVersion } from '../store/tables.ts';
import { Documents } from '../store/write/documents.ts';
import type { Draft } from '../store/write/draft.ts';
import { counted, type Fields, type Replay, type ReplayedEntry, type Report } from '../store/write/replay.ts';
import { adding, type CallerRule, type ChangeRules, done, type GuardRules, withFields } from '../store/write/rule.ts';
import { accountsNamed, enabledAdmins, serviceTokens, users } from './tables.ts';
import { changedSince, isGiven, type UserChange, type UserGuard } from './user.ts';

type UserAdding = Extract<UserChange, { kind: 'user.add' }>;

const addUser = adding<UserAdding, UserRecord>(users, ({ user }) => ({
  ...user,
  userKey: personKey(user.username),
  tokenEpoch: 0,
}));

export const userChanges: ChangeRules<UserChange['kind']> = {
  'user.add': {
    needs(change, wanted) {
      addUser.needs?.(change, wanted);
      wanted.add(accountsNamed, personKey(change.user.username));
    },
    apply(draft, change, context) {
      // Registries of earlier versions have accounts that differ in upper and lower case only, so no index demands it.
      const all = draft.of(users).all(accountsNamed, personKey(change.user.username));
      const named = all.find(account => !isGiven(account));
      return named ? { kind: 'duplicate', number: named.number, status: null } : addUser.apply(draft, change, context);
    },
  },
  'user.set': {
    needs: ({ user }, wanted) => wanted.add(users.byKey, user),
    check(draft, { user }) {
      if (!draft.of(users).get(user)) throw new Conflict(`user ${user} does not exist`);
    },
    apply(draft, { user, set, revoke, entry }, context) {
      const before = draft.of(users).get(user)!;
      draft.of(users).change({ ...withFields(before, set), tokenEpoch: before.tokenEpoch + Number(revoke) });
      draft.enter(context, entry, null, user);
      return done;
    },
  },
};

export const userGuards: GuardRules<UserGuard['kind']> = {
  user: {
    needs: ({ user }, wanted) => wanted.add(users.byKey, user),
    broken: (draft, guard) => changedSince(guard, draft.of(users).get(guard.user)),
  },
  'another-admin': {
    needs: (_guard, wanted) => wanted.add(enabledAdmins, ''),
    broken(draft, { beside }) {
      const others = draft.of(users).all(enabledAdmins, '');
      return others.some(({ number }) => number !== beside) ? null : `no enabled ADMIN other than user ${beside}`;
    },
  },
};

export const callerRule: CallerRule = {
  needs(caller, wanted) {
    if (caller.kind === 'user') wanted.add(users.byKey, caller.user);
    else wanted.add(serviceTokens.byKey, caller.token);
    if (caller.kind === 'service-token' && caller.owner !== null) wanted.add(users.byKey, caller.owner);
    if (caller.kind === 'user' && caller.ssoSessions !== undefined) wanted.add(documentVersion, SESSIONS);
  },
  check(draft, caller) {
    const lost =
      caller.kind === 'user'
        ? lostByUser(caller, draft.of(users).get(caller.user), ssoSessionsIn(draft, caller))
        : lostByToken(
            caller,
            draft.of(serviceTokens).get(caller.token),
            caller.owner === null ? undefined : draft.of(users).get(caller.owner),
          );
    if (lost) throw new CallerRefused(lost);
  },
};

const ssoSessionsIn = (draft: Draft, { ssoSessions }: Extract<CallerGuard, { kind: 'user' }>) =>
  ssoSessions === undefined ? null : draft.part(Documents).version(SESSIONS);

/** Facts about a user in the entries. A value is undefined if no entry has it: an entry of an earlier version. */
interface ReplayedUser {
  username?: unknown;
  role?: unknown;
  disabled: boolean;
  /** How often all tokens of the user were revoked. */
  epoch: number;
  password: string | undefined;
}

/** A user as engines exchange it. */
type ComparedUser = Pick<UserRecord, 'number' | 'username' | 'passwordHash' | 'role' | 'tokenEpoch'> & {
  readonly disabled: 0 | 1;
};

/** The users as the journal records that they are. */
export class UserReplay implements Replay<number, ComparedUser> {
  readonly table = 'user';
  readonly fields = ['number', 'username', 'passwordHash', 'role', 'tokenEpoch', 'disabled'] as const;
  /** Users whose password no entry proves. */
  #unproved = 0;
  readonly #users = new Map<number, ReplayedUser>();
  readonly #numbers = new Map<unknown, number>();

  apply(number: number, { type, detail }: ReplayedEntry): void {
    if (type === 'USER_CREATED') {
      const { username, role } = detail;
      this.#numbers.set(username, number);
      this.#users.set(number, { username, role, disabled: false, epoch: 0, password: passwordIn(detail) });
      return;
    }
    const user = this.#users.get(number);
    if (!user) return;
    if (type === 'USER_UPDATED') update(user, detail);
    else if (type === 'PASSWORD_CHANGED') Object.assign(user, { epoch: user.epoch + 1, password: passwordIn(detail) });
    else if (type === 'USER_LOGGED_OUT') user.epoch++;
  }

  /** The number of the user with this name. */
  numberOf(username: string | null): number | undefined {
    return this.#numbers.get(username);
  }

  compare(row: ComparedUser, report: Report): void {
    const user = this.#users.get(row.number);
    this.#users.delete(row.number);
    const name = `${userIds.format(row.number)} (${row.username})`;
    if (!user) {
      report(`${name} was added without an entry`);
      return;
    }
    const differs = (what: string, found: unknown, said: unknown) => {
      if (said !== undefined && said !== found) report(`${name} ${what} ${found}, the journal records ${said}`);
    };
    differs('has the username', row.username, user.username);
    differs('has the role', row.role, user.role);
    if ((row.disabled === 1) !== user.disabled)
      report(`${name} was ${user.disabled ? 'enabled' : 'disabled'} without an entry`);
    differs('has had its tokens revoked this often:', row.tokenEpoch, user.epoch);
    if (user.password === undefined) this.#unproved++;
    else if (user.password !== passwordDigest(row.passwordHash))
      report(`the password of ${name} was changed without an entry`);
  }

  get notCovered(): string {
    return counted(this.#unproved, 'password', 'passwords', 'user', 'users');
  }

  end(report: Report): void {
    for (const number of this.#users.keys()) report(`${userIds.format(number)} was removed without an entry`);
  }
}

const passwordIn = ({ passwordDigest }: Fields): string | undefined =>
  typeof passwordDigest === 'string' ? passwordDigest : undefined;

function update(user: ReplayedUser, detail: Fields): void {
  const { role, disabled } = (detail.after ?? {}) as Fields;
  if (role !== undefined) user.role = role;
  if (disabled !== undefined) user.disabled = disabled === true;
  if (disabled === true) user.epoch++;
  // A password that was hashed at a new cost.
  if (detail.passwordHash !== undefined) user.password = passwordIn(detail);
}
