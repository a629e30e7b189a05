/** What the page knows of a user. */
import type { User } from '../../../src/contract/users.ts';
import { removedEmail } from '../../../src/contract/values.ts';
import { session } from '../../api/session.ts';

/** Whether it is the account of the person. */
export const isOwn = ({ id }: User): boolean => id === session.value?.user.id;

/** The state of a user. `removed`: disabled and marked by `devmgr users remove`. */
export function stateOf({ disabled, email }: User): 'enabled' | 'disabled' | 'removed' {
  if (!disabled) return 'enabled';
  return email === removedEmail ? 'removed' : 'disabled';
}
