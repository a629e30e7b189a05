/** Users that requests name. */
import { ApiError } from '../../src/contract/codes.ts';
import { userIds } from '../../src/contract/ids.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Reader } from '../store/store.ts';

/** The user with this id. Refuses with 404 if there is none. */
export async function readUser(store: Pick<Reader, 'user'>, userId: string): Promise<UserRecord> {
  const number = userIds.parse(userId);
  const user = number === null ? null : await store.user(number);
  if (!user) throw new ApiError(404, 'user does not exist');
  return user;
}
