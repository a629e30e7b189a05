import type { AccountRole } from '../../src/contract/values.ts';

/** A user or service token as the check of the token has found it. */
export type CallerGuard =
  | {
      readonly kind: 'user';
      readonly user: number;
      readonly tokenEpoch: number;
      readonly role: AccountRole;
      /** The version of the document `sso-sessions` that the session needs; absent for a session that did not come from the provider. */
      readonly ssoSessions?: number | undefined;
    }
  | {
      readonly kind: 'service-token';
      readonly token: number;
      /** Number of the user with whose account it ends. */
      readonly owner: number | null;
    };

/** Why the caller has lost the right to write. `revoked`: the token is no longer valid. `role`: the user has another role. */
export type LostRight = 'revoked' | 'role';

/** Right that a user of a guard has lost; null if none. `user` and the version of `sso-sessions` are as they are now. */
export function lostByUser(
  guard: Extract<CallerGuard, { kind: 'user' }>,
  user: { readonly tokenEpoch: number; readonly role: AccountRole; readonly disabled: boolean } | undefined,
  ssoSessions: number | null,
): LostRight | null {
  if (guard.ssoSessions !== undefined && guard.ssoSessions !== ssoSessions) return 'revoked';
  if (!user || user.disabled || user.tokenEpoch !== guard.tokenEpoch) return 'revoked';
  return user.role === guard.role ? null : 'role';
}

/** Why a commit refuses a service token. `owner`: the user of the guard. */
export const lostByToken = (
  guard: Extract<CallerGuard, { kind: 'service-token' }>,
  token: { readonly revokedAt: number | null; readonly owner: number | null } | undefined,
  owner: { readonly disabled: boolean } | undefined,
): LostRight | null => {
  if (token?.revokedAt !== null) return 'revoked';
  // If it was taken over since, `owner` is the earlier one: the later one has just been an ADMIN.
  return (token.owner ?? guard.owner) === guard.owner && owner?.disabled ? 'revoked' : null;
};

/** The version of the document `sso-sessions` that a session belongs to: with another one it has ended. See `sessionId`. */
export const versionOfSession = (id: string): number => {
  const end = id.indexOf('.');
  return end < 0 ? 0 : Number(id.slice(0, end));
};

/** Number of the key that has opened a session alone, without the provider; null for a session that came from the provider. */
export const keyOfSession = (id: string): number | null => {
  const key = id.split('.')[2];
  return key === undefined ? null : Number(key);
};

/** The document whose version is raised by each change of the settings that ends all sessions. */
export const SESSIONS = 'sso-sessions';
