/** A user: what an administrator does with one, the security keys, and what to do when one is lost. */
import { useSignal } from '@preact/signals';
import type { ListedUser, User } from '../../../src/contract/users.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { RecordPage } from '../../parts/list-page.tsx';
import { onePage } from '../../parts/pager.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { moment } from '../../text/numbers.ts';
import { users as words } from '../../text/words.ts';
import { Keys, type KeysOfUser } from './keys.tsx';
import { users } from './page.tsx';
import { allUsers, isOwn } from './states.ts';

/** The user that the address names, by id or by name. */
export function UserPage() {
  const all = useResource(async signal => onePage(await allUsers(signal)));
  return <RecordPage path="users" kind={{ ...users, Below: OwnKeys }} words={words} all={all} />;
}

const OwnKeys = ({ record }: { readonly record: ListedUser }) => (
  <Keys key={record.id} userId={record.id} below={keys => <LostKey keys={keys} user={record} />} />
);

/** Advice if the person has lost a key: what follows depends on the keys that are left. */
function LostKey({ user, keys: { list, required } }: { readonly user: User; readonly keys: KeysOfUser }) {
  const { title, remove, logout, ...rest } = words.lost;
  return (
    <section>
      <h2>{title}</h2>
      <ol>
        <li>{remove}</li>
        <li>{logout}</li>
        {list.length > 0 ? (
          <li>{rest.other}</li>
        ) : (
          <>
            {required && <li>{rest.password}</li>}
            {required && !user.disabled && !isOwn(user) && (
              <li>
                {rest.allow} <AllowRegistration userId={user.id} />
              </li>
            )}
            <li>{required ? rest.register : rest.alone}</li>
          </>
        )}
      </ol>
    </section>
  );
}

/** Without it, the password of a user whose keys were removed is refused. */
function AllowRegistration({ userId }: { readonly userId: string }) {
  const until = useSignal<string | null>(null);
  const { busy, problem, run } = useAction();
  const allow = async () => {
    until.value = (await call('allowRegistration', { params: { userId } })).until;
  };
  return (
    <>
      <Button words={words.lost.button} disabled={busy.value} onClick={() => void run(allow)} />
      {until.value !== null && <span role="status">{words.lost.allowed(moment(until.value))}</span>}
      <ProblemNotice problem={problem.value} />
    </>
  );
}
