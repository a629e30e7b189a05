/** The users of the system, and what an administrator does with them. */
import { useSignal } from '@preact/signals';
import { useResource } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { Pager } from '../../parts/pager.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { linkTo, place } from '../../router.ts';
import { dictionary, text } from '../../text/text.ts';
import { UserDialog } from './dialogs.tsx';
import { listUsers } from './requests.ts';
import { UserTable } from './table.tsx';
import type { DialogSubject } from './user-action.ts';

const userWords = dictionary('users');

/** The list of users. */
export function UsersPage() {
  const words = userWords.value;
  const { data, problem, reload } = useResource(signal => listUsers(pageNumber(), signal));
  const asked = useSignal<DialogSubject | null>(null);
  const done = useSignal('');
  const list = data.value;
  return (
    <>
      <h1>{words.title}</h1>
      <div class="bar">
        <p role="status">{done.value || (list && words.total(list.pagination.total))}</p>
        <button type="button" class="main" onClick={() => (asked.value = { action: 'create' })}>
          {words.action.create} …
        </button>
      </div>
      <ProblemNotice problem={problem.value} retry={reload} />
      {!list && !problem.value && <p>{text.value.common.loading}</p>}
      {list && (
        <>
          <UserTable
            users={list.list}
            ownId={session.value?.user.id ?? ''}
            onAsk={(action, user) => (asked.value = { action, user })}
          />
          <Pager
            page={list.pagination.page}
            pages={list.pagination.totalPages}
            to={page => linkTo('users', page > 1 ? { page } : {})}
          />
        </>
      )}
      {asked.value && (
        <UserDialog
          asked={asked.value}
          onClose={() => (asked.value = null)}
          onDone={username => {
            if (asked.value) done.value = words.done[asked.value.action](username);
            reload();
          }}
        />
      )}
    </>
  );
}

/** The page in the address, counted from 1. */
const pageNumber = (): number => Math.max(1, Math.trunc(Number(place.value.query.get('page'))) || 1);
