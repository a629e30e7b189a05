/** What the page reads and changes. */
import type { DataOf, InputOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import type { User } from '../../../src/contract/users.ts';
import { removedEmail } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';

/** Users on one page of the list. */
const SIZE = 50;

/** The operations that change users. */
type UserRequest = 'createUser' | 'updateUser' | 'setPassword' | 'logoutUser';

/** A page of the list, the newest users first. */
export const listUsers = (page: number, signal: AbortSignal): Promise<DataOf<Routes['listUsers']>> =>
  call('listUsers', { query: { page, size: SIZE } }, { signal });

/** Carries out a change. All changes of the page go through this function. */
export const changeUser = <N extends UserRequest>(
  name: N,
  input: InputOf<Routes[N]>,
  key: string,
): Promise<DataOf<Routes[N]>> => call(name, input, { key });

/** States of a user. `removed`: disabled and marked by `devmgr users remove`. */
type UserState = 'enabled' | 'disabled' | 'removed';

/** The state of a user. */
export function stateOf({ disabled, email }: User): UserState {
  if (!disabled) return 'enabled';
  return email === removedEmail ? 'removed' : 'disabled';
}

/** What disables or enables a user. Enabling takes the mark of a removal away. */
export const disabling = (user: User): { readonly disabled: boolean; readonly email?: null } => ({
  disabled: !user.disabled,
  ...(stateOf(user) === 'removed' && { email: null }),
});
