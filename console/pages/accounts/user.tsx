/** A user: what an administrator does with one, the security keys, and what to do when one is lost. */
import { useSignal } from '@preact/signals';
import type { User } from '../../../src/contract/users.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Back, PersonLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { useRecordActions } from '../../parts/records.tsx';
import { reporting } from '../../parts/toast.ts';
import { place, useTitle } from '../../router.ts';
import { moment } from '../../text/numbers.ts';
import { text, users as words } from '../../text/words.ts';
import { Keys, type KeysOfUser } from './keys.tsx';
import { users } from './page.tsx';
import { allUsers, isOwn } from './states.ts';

/** The user that the address names, by id or by name. */
export function UserPage() {
  const resource = useResource(async signal => {
    const [, named] = place.value.path;
    const all = await allUsers(signal);
    return all.find(({ id }) => id === named) ?? all.find(({ username }) => username === named) ?? null;
  });
  const { control, dialog } = useRecordActions(users, words, reporting(resource.reload));
  const user = resource.data.value;
  useTitle(user?.username);
  const heads = { ...text.column, ...words.column };
  return (
    <>
      <Back to="users" words={words.back} />
      <div class="bar">
        <h1>
          {user?.username ?? text.nav.users} {user && users.columns.state(user)}
        </h1>
        {user && control(user)}
      </div>
      {dialog}
      <Loaded from={resource}>
        {known =>
          known ? (
            <>
              <div class="cards">
                <section>
                  <FactList
                    facts={[
                      ...facts.map(name => [heads[name], users.columns[name](known)] as const),
                      [
                        text.column.person,
                        known.personId && <PersonLink personId={known.personId} name={known.personId} />,
                      ],
                    ]}
                  />
                </section>
              </div>
              <Keys key={known.id} userId={known.id} below={keys => <LostKey keys={keys} user={known} />} />
            </>
          ) : (
            <p>{text.common.unknownPage}</p>
          )
        }
      </Loaded>
    </>
  );
}

const facts = ['role', 'email', 'key', 'since'] as const;

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
