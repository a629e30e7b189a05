/** The users of one page of the list. */
import type { User } from '../../../src/contract/users.ts';
import { ListTable } from '../../parts/list-table.tsx';
import { day, moment } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';
import { stateOf } from './requests.ts';
import type { UserAction } from './user-action.ts';

const roleWords = dictionary('roles');
const userWords = dictionary('users');

interface UsersTableProps {
  readonly users: readonly User[];
  /** Id of the person; that user cannot be disabled. */
  readonly ownId: string;
  readonly onAsk: (action: UserAction, user: User) => void;
}

const colors = { enabled: 'good', disabled: 'warn', removed: '' } as const;

/** The table, with the actions of each user. */
export function UserTable({ users, ...rest }: UsersTableProps) {
  const { title, column } = userWords.value;
  return (
    <ListTable title={title} columns={column} minor={['since']}>
      {users.map(user => (
        <Row key={user.id} user={user} {...rest} />
      ))}
    </ListTable>
  );
}

function Row({ user, ownId, onAsk }: Omit<UsersTableProps, 'users'> & { readonly user: User }) {
  const words = userWords.value;
  const { id, username, role, email, createdAt } = user;
  const state = stateOf(user);
  return (
    <tr>
      <th scope="row">
        {username} {id === ownId && <span class="tag">{words.you}</span>}
      </th>
      <td>{roleWords.value.name[role]}</td>
      <td>{state !== 'removed' && email}</td>
      <td>
        <span class={`badge ${colors[state]}`}>{words.state[state]}</span>
      </td>
      <td class="minor">
        <time dateTime={createdAt} title={moment(createdAt)}>
          {day(createdAt)}
        </time>
      </td>
      <td class="row-actions">
        {actionsOf(user, ownId).map(action => (
          <button
            key={action}
            type="button"
            aria-label={words.of[action](username)}
            onClick={() => onAsk(action, user)}
          >
            {words.action[action]}
          </button>
        ))}
      </td>
    </tr>
  );
}

/** One's own account cannot be disabled; a disabled one has no sessions. */
function actionsOf({ id, disabled }: User, ownId: string): readonly UserAction[] {
  if (disabled) return ['edit', 'password', 'enable'];
  return id === ownId ? ['edit', 'password', 'logout'] : ['edit', 'password', 'logout', 'disable'];
}
