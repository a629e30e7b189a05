/** State of users for the pages. */
import type { ListedUser, User } from '../../../src/contract/users.ts';
import { removedEmail } from '../../../src/contract/values.ts';
import { everyPage } from '../../api/every-page.ts';
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
export const allUsers = (signal: AbortSignal): Promise<readonly ListedUser[]> =>
  everyPage(part => call('listUsers', { query: { ...part, sortOrder: 'asc' } }, { signal }));
