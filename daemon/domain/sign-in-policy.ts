/** Who has to sign in with a security key. Decisions only, no I/O. */
import { userIds } from '../../src/contract/ids.ts';
import type { Role } from '../../src/contract/values.ts';
import { type DocumentGuard, type DocumentRecord, type DocumentSet, replace } from './document.ts';
import type { UserRecord } from './user.ts';

/** The document with the policy: the journal proves it. */
export const SIGN_IN_POLICY = 'sign-in-policy';

/** The policy as it is stored. */
export interface SignInPolicyRecord {
  /** Version of the document; 0 if it does not exist. */
  readonly version: number;
  /** Roles whose users need a key. */
  readonly requireKey: readonly Role[];
  /** Numbers of the users who need one whatever their role. */
  readonly users: readonly number[];
  /** Numbers of the users who need none, because they have lost theirs, until they register another one. */
  readonly exempt: readonly number[];
}

/** The policy in a document. */
export function policyIn(document: DocumentRecord | null): SignInPolicyRecord {
  if (!document) return { version: 0, requireKey: [], users: [], exempt: [] };
  return { version: document.version, ...(JSON.parse(document.value) as Omit<SignInPolicyRecord, 'version'>) };
}

/** Whether a user has to sign in with a key. */
export const needsKey = (
  { requireKey, users, exempt }: SignInPolicyRecord,
  { number, role }: Pick<UserRecord, 'number' | 'role'>,
): boolean => (requireKey.includes(role) || users.includes(number)) && !exempt.includes(number);

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

/** Requires no key of a user until the user registers one; null if none is required now. */
export function exempt(policy: SignInPolicyRecord, user: Pick<UserRecord, 'number' | 'role'>): DocumentSet | null {
  if (!needsKey(policy, user)) return null;
  const changed = { ...policy, users: without(policy.users, user.number), exempt: [...policy.exempt, user.number] };
  return stored(changed, { user: userIds.format(user.number), exempt: true });
}

/** Ends the exemption of a user, who has a key now; null if the user has none. */
export function endExemption(policy: SignInPolicyRecord, user: number): DocumentSet | null {
  if (!policy.exempt.includes(user)) return null;
  const changed = { ...policy, exempt: without(policy.exempt, user) };
  return stored(changed, { user: userIds.format(user), exempt: false });
}

const without = (users: readonly number[], user: number) => users.filter(number => number !== user);

const stored = ({ version, ...value }: SignInPolicyRecord, detail: Readonly<Record<string, unknown>>): DocumentSet =>
  replace({ name: SIGN_IN_POLICY, version }, JSON.stringify(value), { type: 'SIGN_IN_POLICY_SET', detail });
