/** The users of the system, and what an administrator does with them. */
import type { User } from '../../../src/contract/users.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { lazy } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { pageIn } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { Day } from '../../parts/time.tsx';
import { place } from '../../router.ts';
import { dictionary } from '../../text/text.ts';
import { isOwn, stateOf } from './states.ts';

const roleWords = dictionary('roles');
const userWords = dictionary('users');

const CreateUser = lazy(async () => (await import('./dialogs.tsx')).CreateUser);
const EditUser = lazy(async () => (await import('./dialogs.tsx')).EditUser);
const SetPassword = lazy(async () => (await import('./password.tsx')).SetPassword);
const LogOut = lazy(async () => (await import('./dialogs.tsx')).LogOut);
const Disable = lazy(async () => (await import('./dialogs.tsx')).Disable);

const colors = { enabled: 'good', disabled: 'warn', removed: '' } as const;

type UserColumn = 'name' | 'role' | 'email' | 'state' | 'since';
type UserAction = 'edit' | 'password' | 'logout' | 'disable' | 'enable';

const users: RecordKind<User, UserColumn, UserAction> = {
  keyOf: ({ id }) => id,
  nameOf: ({ username }) => username,
  columns: {
    name: user => (
      <>
        {user.username} {isOwn(user) && <span class="tag">{userWords.value.you}</span>}
      </>
    ),
    role: ({ role }) => roleWords.value.name[role],
    email: user => stateOf(user) !== 'removed' && user.email,
    state: user => <span class={`badge ${colors[stateOf(user)]}`}>{userWords.value.state[stateOf(user)]}</span>,
    since: ({ createdAt }) => <Day at={createdAt} />,
  },
  rowHead: 'name',
  classes: { since: 'minor' },
  actions: {
    edit: { Dialog: EditUser },
    password: { Dialog: SetPassword },
    // A disabled user has no sessions.
    logout: { Dialog: LogOut, isFor: ({ disabled }) => !disabled },
    disable: { Dialog: Disable, isFor: user => !user.disabled && !isOwn(user) },
    enable: { Dialog: Disable, isFor: ({ disabled }) => disabled },
  },
};

/** The list of users, the newest first. */
export function UsersPage() {
  const list = useResource(signal => call('listUsers', { query: pageIn(place.value.query) }, { signal }));
  return <ListPage path="users" kind={users} words={userWords.value} list={list} Create={CreateUser} />;
}
