/** Who has to sign in with a security key. Decisions only, no I/O. */
import { userIds } from '../../src/contract/ids.ts';
import type { Role } from '../../src/contract/values.ts';
import type { UserRecord } from '../requests/callers.ts';
import { type DocumentGuard, type DocumentRecord, type DocumentSet, replace } from '../store/document.ts';

/** The document with the policy: the journal proves it. */
export const SIGN_IN_POLICY = 'sign-in-policy';

/** The registration of one key that a user may make with the password alone, although keys of the user were removed. */
interface RegistrationAllowance {
  readonly user: number;
  /** When it ends; milliseconds since 1970. */
  readonly until: number;
  /** `tokenEpoch` of the user: it ends with the tokens, when the password changes or the account is disabled. */
  readonly epoch: number;
}

/** The policy as it is stored. */
export interface SignInPolicyRecord {
  /** Version of the document; 0 if it does not exist. */
  readonly version: number;
  /** Roles whose users need a key. */
  readonly requireKey: readonly Role[];
  /** Numbers of the users who need one whatever their role. */
  readonly users: readonly number[];
  /** Numbers of the users who need none, because they have lost theirs, until they register another one or their allowance ends. */
  readonly exempt: readonly number[];
  /** At most one for each user. An exemption from before allowances existed has none, and does not end by time. */
  readonly allowed: readonly RegistrationAllowance[];
}

/** The policy in a document. */
export function policyIn(document: DocumentRecord | null): SignInPolicyRecord {
  const value = document ? (JSON.parse(document.value) as object) : null;
  return { version: document?.version ?? 0, requireKey: [], users: [], exempt: [], allowed: [], ...value };
}

const isRequired = ({ requireKey, users }: SignInPolicyRecord, { number, role }: Pick<UserRecord, 'number' | 'role'>) =>
  requireKey.some(one => one === role) || users.includes(number);

/** Whether a user has to sign in with a key at the time `at`. */
export const needsKey = (policy: SignInPolicyRecord, user: Pick<UserRecord, 'number' | 'role'>, at: number): boolean =>
  isRequired(policy, user) && !isExempt(policy, user.number, at);

const isExempt = ({ exempt, allowed }: SignInPolicyRecord, number: number, at: number): boolean =>
  exempt.includes(number) && !allowed.some(({ user, until }) => user === number && until <= at);

/** Until when a user whose keys were removed may register one with the password alone; null if not at the time `at`. */
export function registrationUntil(
  { allowed }: SignInPolicyRecord,
  { number, tokenEpoch }: Pick<UserRecord, 'number' | 'tokenEpoch'>,
  at: number,
): number | null {
  const found = allowed.find(({ user, epoch, until }) => user === number && epoch === tokenEpoch && until > at);
  return found?.until ?? null;
}

/** Requires that the policy on which a decision is based has not changed. */
export const policyUnchanged = ({ version }: SignInPolicyRecord): DocumentGuard => ({
  kind: 'document',
  name: SIGN_IN_POLICY,
  version,
});

/** Requires keys of these roles and of no other role. */
export function requireOfRoles(before: SignInPolicyRecord, requireKey: readonly Role[]): DocumentSet {
  return stored({ ...before, requireKey }, { before: before.requireKey, after: requireKey });
}

/** Requires a key of a user, or stops that; null if nothing changes. */
export function requireOfUser(policy: SignInPolicyRecord, user: number, required: boolean): DocumentSet | null {
  if (policy.users.includes(user) === required) return null;
  const users = required ? [...policy.users, user] : without(policy.users, user);
  return stored({ ...policy, users }, { user: userIds.format(user), required });
}

/** A time, and how long something is allowed from then on; milliseconds since 1970. */
interface AllowedTime {
  readonly at: number;
  readonly until: number;
}

/** Lets a user whose keys were removed register one with the password alone. Ends an earlier exemption, which would count again. */
export function allowRegistration(policy: SignInPolicyRecord, user: UserRecord, time: AllowedTime): DocumentSet {
  const detail = { user: userIds.format(user.number), username: user.username, until: time.until };
  const changed = { ...withAllowance(policy, user, time), exempt: without(policy.exempt, user.number) };
  return stored(changed, detail, 'USER_REGISTRATION_ALLOWED');
}

/** Requires no key of a user until one is registered or the time is over; null if none is required. `user`: after the commit. */
export function exempt(policy: SignInPolicyRecord, user: UserRecord, time: AllowedTime): DocumentSet | null {
  if (!isRequired(policy, user)) return null;
  const { number } = user;
  const changed = { ...withAllowance(policy, user, time), exempt: [...without(policy.exempt, number), number] };
  return stored(changed, { user: userIds.format(number), exempt: true, until: time.until });
}

/** Ends the exemption and the allowance of a user, who has a key now; null if the user has neither. */
export function endExemption(policy: SignInPolicyRecord, user: number): DocumentSet | null {
  const allowed = policy.allowed.filter(one => one.user !== user);
  if (!policy.exempt.includes(user) && allowed.length === policy.allowed.length) return null;
  const changed = { ...policy, exempt: without(policy.exempt, user), allowed };
  return stored(changed, { user: userIds.format(user), exempt: false });
}

/** Replaces the allowance of a user. Those that have expired are dropped, except of exempt users: their exemption has expired with it. */
function withAllowance(
  policy: SignInPolicyRecord,
  { number: user, tokenEpoch: epoch }: UserRecord,
  { at, until }: AllowedTime,
): SignInPolicyRecord {
  const others = policy.allowed.filter(
    one => one.user !== user && (one.until > at || policy.exempt.includes(one.user)),
  );
  return { ...policy, allowed: [...others, { user, until, epoch }] };
}

const without = (users: readonly number[], user: number) => users.filter(number => number !== user);

const stored = (
  { version, ...value }: SignInPolicyRecord,
  detail: Readonly<Record<string, unknown>>,
  type: 'SIGN_IN_POLICY_SET' | 'USER_REGISTRATION_ALLOWED' = 'SIGN_IN_POLICY_SET',
): DocumentSet => replace({ name: SIGN_IN_POLICY, version }, JSON.stringify(value), { type, detail });
