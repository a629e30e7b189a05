/** State of users for the pages. */
import { paging } from '../../../src/contract/limits.ts';
import type { ListedUser, User } from '../../../src/contract/users.ts';
import { removedEmail } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { session } from '../../api/session.ts';

/** Whether it is the account of the person. */
export const isOwn = ({ id }: Pick<User, 'id'>): boolean => id === session.value?.user.id;

/** The state of a user. `removed`: disabled and marked by `devmgr users remove`. */
export function stateOf({ disabled, email }: User): 'enabled' | 'disabled' | 'removed' {
  if (!disabled) return 'enabled';
  return email === removedEmail ? 'removed' : 'disabled';
}

/** All users, in order of creation. */
export async function allUsers(signal: AbortSignal): Promise<readonly ListedUser[]> {
  const found: ListedUser[] = [];
  for (let page = 1; ; page++) {
    const query = { page, size: paging.maxSize, sortOrder: 'asc' } as const;
    const { list, pagination } = await call('listUsers', { query }, { signal });
    found.push(...list);
    if (page >= pagination.totalPages) return found;
  }
}
