/** Users, tokens and sessions as the interface shows them. */
import { tokenIds, userIds } from '../../src/contract/ids.ts';
import type { Data } from '../../src/contract/routes.ts';
import type { ServiceToken } from '../../src/contract/tokens.ts';
import type * as api from '../../src/contract/users.ts';
import { iso, isoOrNull } from '../base/time.ts';
import { actorName, type ServiceTokenRecord, type UserRecord } from '../requests/callers.ts';
import type { Caller } from '../requests/context.ts';

/** A user, without the password. */
export const user = (record: Omit<UserRecord, 'userKey'>): api.User => ({
  ...loginUser(record),
  disabled: record.disabled,
  createdAt: iso(record.createdAt),
});

/** The response to a sign-in of any kind. `expiresAt`: milliseconds since 1970. */
export const login = (
  record: UserRecord,
  { token, expiresAt }: { readonly token: string; readonly expiresAt: number },
): Data<'login'> => ({ token, expireTime: iso(expiresAt), user: loginUser(record) });

const loginUser = ({ number, username, role, email }: Omit<UserRecord, 'userKey'>): Data<'login'>['user'] => ({
  id: userIds.format(number),
  username,
  role,
  email,
});

/** The session of a user. */
export function session({ user, session: opened, expiresAt }: Caller): Data<'getSession'> {
  const signedInAt = opened?.signedInAt ?? 0;
  return {
    user: loginUser(user!),
    sso: opened?.sso !== undefined,
    console: opened?.console ?? false,
    withKey: opened?.withKey ?? false,
    signedInAt: signedInAt > 0 ? iso(signedInAt * 1000) : null,
    expireTime: iso(expiresAt * 1000),
  };
}

/** A service token, without its text. `owner`: user name. */
export function serviceToken(
  record: ServiceTokenRecord,
  { owner, ownerLost }: Pick<ServiceToken, 'owner' | 'ownerLost'>,
): ServiceToken {
  return {
    tokenId: tokenIds.format(record.number),
    name: record.name,
    role: record.role,
    createdBy: record.createdBy,
    owner,
    ownerLost,
    createdAt: iso(record.createdAt),
    expiresAt: iso(record.expiresAt),
    lastUsedAt: isoOrNull(record.lastUsedAt),
    revokedAt: isoOrNull(record.revokedAt),
    allowedFrom: record.allowedFrom === null ? null : [...record.allowedFrom],
    may: [...record.may],
  };
}

/** The user or service token that makes a request; null for the role LOCAL. */
export function me({ user: person, serviceToken: token }: Caller): Data<'getOwnUser'> | null {
  if (person) return user(person);
  if (!token) return null;
  return {
    id: tokenIds.format(token.number),
    username: actorName(token),
    role: token.role,
    email: null,
    disabled: false,
    createdAt: iso(token.createdAt),
    expiresAt: iso(token.expiresAt),
  };
}
