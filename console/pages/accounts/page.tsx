/** The users of the system, and what an administrator does with them. */
import type { BodyOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import type { ListedUser, User } from '../../../src/contract/users.ts';
import { removedEmail } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { endSession } from '../../api/session.ts';
import { changesOf } from '../../parts/changes.ts';
import { PersonLink } from '../../parts/item.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { pageIn } from '../../parts/pager.tsx';
import type { RecordKind } from '../../parts/records.tsx';
import { orderIn } from '../../parts/sort.tsx';
import { Moment } from '../../parts/time.tsx';
import { linkTo, place } from '../../router.ts';
import { moment } from '../../text/numbers.ts';
import { text, users as userWords } from '../../text/words.ts';
import { isOwn, stateOf } from './states.ts';

const CreateUser = lazyDialog(async () => (await import('./dialogs.tsx')).CreateUser);
const EditUser = lazyDialog(async () => (await import('./dialogs.tsx')).EditUser);
const SetPassword = lazyDialog(async () => (await import('./password.tsx')).SetPassword);

const colors = { enabled: 'good', disabled: 'warn', removed: '' } as const;

type UserColumn = 'name' | 'role' | 'email' | 'state' | 'key' | 'since';
type UserAction = 'edit' | 'password' | 'logout' | 'disable' | 'enable' | 'remove';

const update = ({ id }: User, body: BodyOf<Routes['updateUser']>, key: string) =>
  call('updateUser', { params: { userId: id }, body }, { key });

const logOut = {
  async carryOut(user: User, key: string) {
    await call('logoutUser', { params: { userId: user.id } }, { key });
    if (isOwn(user)) endSession('expired');
  },
  isDangerous: true,
  note: (user: User) => isOwn(user) && userWords.own,
};

/** List of users, with the actions on them. */
export const users: RecordKind<ListedUser, UserColumn, UserAction> = {
  keyOf: ({ id }) => id,
  nameOf: ({ username }) => username,
  columns: {
    name: user => (
      <>
        <a href={linkTo(`users/${user.id}`)}>{user.username}</a>{' '}
        {isOwn(user) && <span class="tag">{userWords.you}</span>}
      </>
    ),
    role: ({ role }) => text.role[role],
    email: user => stateOf(user) !== 'removed' && user.email,
    state: user => <span class={`badge ${colors[stateOf(user)]}`}>{userWords.state[stateOf(user)]}</span>,
    key: ({ hasKey, registrationUntil: until }) =>
      until === undefined ? userWords.key[hasKey ? 'yes' : 'no'] : userWords.key.until(moment(until)),
    since: ({ createdAt }) => <Moment at={createdAt} />,
  },
  rowHead: 'name',
  classes: { since: 'minor' },
  sorts: {
    name: ({ username }) => username,
    role: ({ role }) => text.role[role],
    email: user => (stateOf(user) === 'removed' ? null : (user.email ?? null)),
    state: user => userWords.state[stateOf(user)],
    key: ({ hasKey }) => userWords.key[hasKey ? 'yes' : 'no'],
    since: ({ createdAt }) => Date.parse(createdAt),
  },
  usualSort: 'since',
  more: ({ personId }) => [[text.column.person, personId && <PersonLink personId={personId} name={personId} />]],
  history: userId => changesOf({ userId: [userId] }),
  aliases: ({ username }) => [username],
  actions: {
    edit: { Dialog: EditUser },
    password: { Dialog: SetPassword },
    // A disabled user has no sessions.
    logout: { ...logOut, isFor: ({ disabled }) => !disabled },
    disable: {
      carryOut: (user, key) => update(user, { disabled: true }, key),
      isDangerous: true,
      undo: 'enable',
      isFor: user => !user.disabled && !isOwn(user),
    },
    enable: {
      // Takes the mark of a removal away.
      carryOut: (user, key) =>
        update(user, { disabled: false, ...(stateOf(user) === 'removed' && { email: null }) }, key),
      isFor: ({ disabled }) => disabled,
    },
    remove: {
      carryOut: (user, key) => update(user, { disabled: true, email: removedEmail }, key),
      isDangerous: true,
      isFor: user => stateOf(user) !== 'removed' && !isOwn(user),
    },
  },
};

/** The list of users, the newest first. */
export function UsersPage() {
  const list = useResource(signal => {
    const { sortBy, descending } = orderIn(place.value.query, users.usualSort);
    const sortOrder = sortBy === users.usualSort && !descending ? 'asc' : 'desc';
    return call('listUsers', { query: { ...pageIn(place.value.query), sortOrder } }, { signal });
  });
  return <ListPage path="users" kind={users} words={userWords} list={list} Create={CreateUser} />;
}
