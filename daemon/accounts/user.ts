import { personKey } from '../../src/contract/person-key.ts';
import { type Decision, inputRefusal, type Refusal } from '../base/decision.ts';
import type { UserRecord } from '../requests/callers.ts';
import { passwordDigest } from '../store/digest.ts';
import type { Entry } from '../store/journal.ts';

/** Fields of a new user. */
type NewUser = Omit<UserRecord, 'number' | 'createdAt' | 'tokenEpoch' | 'userKey'>;

/** The fields that a change may set. Absent fields keep their values. */
type UserSet = Partial<Pick<UserRecord, 'role' | 'email' | 'disabled' | 'passwordHash' | 'userKey'>>;

/** The result is `duplicate` if the username exists. */
interface UserAdd {
  readonly kind: 'user.add';
  readonly user: NewUser;
  readonly entry: Entry;
}

/** `revoke` raises tokenEpoch. */
interface UserUpdate {
  readonly kind: 'user.set';
  readonly user: number;
  readonly set: UserSet;
  readonly revoke: boolean;
  readonly entry: Entry;
}

/** Every change of a user. */
export type UserChange = UserAdd | UserUpdate;

/**
 * `user`: no token was revoked since the record was read, and the given fields have these values. `another-admin`: an enabled ADMIN
 * other than this user remains.
 */
export type UserGuard =
  | {
      readonly kind: 'user';
      readonly user: number;
      readonly tokenEpoch: number;
      readonly fields?: Pick<UserRecord, 'role' | 'email' | 'disabled'>;
    }
  | { readonly kind: 'another-admin'; readonly beside: number };

/** Why the guard does not hold for its user as it is now; null if it does. */
export function changedSince(
  { user: number, tokenEpoch, fields }: Extract<UserGuard, { kind: 'user' }>,
  user: Pick<UserRecord, 'tokenEpoch' | 'role' | 'email' | 'disabled'> | undefined,
): string | null {
  if (user?.tokenEpoch !== tokenEpoch) return `user ${number} was logged out or does not exist`;
  if (!fields) return null;
  const isSame = user.role === fields.role && user.email === fields.email && user.disabled === fields.disabled;
  return isSame ? null : `user ${number} was changed`;
}

/** A change of an existing user, and its guards. */
export type UserDecision = Decision<UserUpdate, UserGuard>;

/** Adds a user. */
export function create(user: NewUser): UserAdd {
  const { username, role, email } = user;
  const detail = { username, role, ...shownEmail({ email }), passwordDigest: passwordDigest(user.passwordHash) };
  return { kind: 'user.add', user, entry: { type: 'USER_CREATED', detail } };
}

/** Form of the fields in an entry: that there is an e-mail address, but not the address, so that the journal never has to forget it. */
const shownEmail = <F extends { readonly email?: string | null }>(fields: F): object =>
  fields.email ? { ...fields, email: 'set' } : fields;

/** The first user of a registry. */
export function createFirst(username: string, passwordHash: string): UserAdd {
  const user = { username, passwordHash, role: 'ADMIN', email: null, disabled: false } as const;
  const detail = { username, role: 'ADMIN', first: true, passwordDigest: passwordDigest(passwordHash) };
  return { kind: 'user.add', user, entry: { type: 'USER_CREATED', detail } };
}

/** The fields that an update may set. */
type UserEdit = { readonly [K in 'role' | 'email' | 'disabled']?: UserRecord[K] | undefined };

/** The fields whose values differ from those of the user; empty if nothing changes. */
export function differences(user: UserRecord, { role, email, disabled }: UserEdit): UserSet {
  return {
    ...(role === undefined || role === user.role ? {} : { role }),
    ...(email === undefined || email === user.email ? {} : { email }),
    ...(disabled === undefined || disabled === user.disabled ? {} : { disabled }),
  };
}

/** Disabling also revokes the tokens of the user: they stay invalid when the user is enabled again. */
export function edit(user: UserRecord, set: UserSet, otherAdmins: boolean): UserDecision | Refusal {
  const losesAdmin =
    user.role === 'ADMIN' && !user.disabled && ((set.role ?? 'ADMIN') !== 'ADMIN' || set.disabled === true);
  if (losesAdmin && !otherAdmins)
    return inputRefusal(set.disabled ? 'disabled' : 'role', `: ${user.username} is the last enabled ADMIN`);
  const entry = { type: 'USER_UPDATED', detail: { username: user.username, ...shownEdit(user, set) } } as const;
  return decide(user, { set, revoke: set.disabled === true, entry }, losesAdmin);
}

/** What an update changes, as entries have it. An e-mail address that replaces another one is `changed`. */
function shownEdit(user: UserRecord, { passwordHash: _, ...set }: UserSet): { before: object; after: object } {
  const before = Object.fromEntries(Object.keys(set).map(field => [field, user[field as keyof typeof set]]));
  const isReplaced = user.email !== null && typeof set.email === 'string';
  return { before: shownEmail(before), after: isReplaced ? { ...set, email: 'changed' } : shownEmail(set) };
}

/** Revokes all tokens of the user. `detail` goes into the journal. */
export function changePassword(user: UserRecord, passwordHash: string, detail: object = {}): UserDecision {
  const digest = passwordDigest(passwordHash);
  const entry = {
    type: 'PASSWORD_CHANGED',
    detail: { username: user.username, ...detail, passwordDigest: digest },
  } as const;
  return decide(user, { set: { passwordHash }, revoke: true, entry });
}

/** Stores the password hashed at another cost. Tokens stay valid. */
export function rehash(user: UserRecord, passwordHash: string): UserDecision {
  const { username } = user;
  const detail = {
    username,
    passwordHash: 'rehashed at the current cost',
    passwordDigest: passwordDigest(passwordHash),
  };
  const entry = { type: 'USER_UPDATED', detail } as const;
  return decide(user, { set: { passwordHash }, revoke: false, entry });
}

/** Revokes all tokens of the user; the password stays. */
export function logOut(user: UserRecord): UserDecision {
  const entry = { type: 'USER_LOGGED_OUT', detail: { username: user.username } } as const;
  return decide(user, { set: {}, revoke: true, entry });
}

/** Requires that role, state and tokens of a user have not changed. Responses show these fields. */
export const unchanged = ({ number, tokenEpoch, role, email, disabled }: UserRecord): UserGuard => ({
  kind: 'user',
  user: number,
  tokenEpoch,
  fields: { role, email, disabled },
});

function decide(
  user: UserRecord,
  update: Pick<UserUpdate, 'set' | 'revoke' | 'entry'>,
  needsAnotherAdmin = false,
): UserDecision {
  const { number } = user;
  return {
    change: { kind: 'user.set', user: number, ...update },
    // Whether another administrator is needed follows from role and state.
    guards: needsAnotherAdmin ? [unchanged(user), { kind: 'another-admin', beside: number }] : [unchanged(user)],
  };
}

const HASH = 'sso$';

/** In the place of the hash of a password: no password matches it. */
export const hashOf = (key: string): string => HASH + key;

/** The key of `hashOf`; null if the account belongs to no provider. */
export const keyOf = (user: Pick<UserRecord, 'passwordHash'>): string | null =>
  isOfProvider(user) ? user.passwordHash.slice(HASH.length) : null;

/** Whether an account belongs to a provider: no one signs in to it with a password, and with a key alone only a HOLDER. */
export const isOfProvider = ({ passwordHash }: Pick<UserRecord, 'passwordHash'>): boolean =>
  passwordHash.startsWith(HASH);

/** Whether no person can be renamed to the name of this account: a person who may choose a name in the directory could disable it. */
export const keepsName = (account: Pick<UserRecord, 'passwordHash' | 'disabled'> | null | undefined): boolean =>
  account ? !account.disabled && !isOfProvider(account) : false;

/** Whether `people match` has given the account to a person with another name. */
export const isGiven = ({ username, userKey }: Pick<UserRecord, 'username' | 'userKey'>): boolean =>
  userKey !== personKey(username);

/** The account is one of the person with this key, or that of its name again. `before`, `after`: ids of the persons. */
export const give = (
  user: UserRecord,
  userKey: string,
  { before, after }: { readonly before: string | null; readonly after: string | null },
): UserDecision => {
  const detail = { username: user.username, before: { personId: before }, after: { personId: after } };
  return decide(user, { set: { userKey }, revoke: false, entry: { type: 'USER_UPDATED', detail } });
};
