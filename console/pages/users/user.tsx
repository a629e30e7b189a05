/** A user: what an administrator does with one, the security keys, and what to do when one is lost. */
import { useResource } from '../../api/resource.ts';
import { FactList } from '../../parts/facts.tsx';
import { Back } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useRecordActions } from '../../parts/records.tsx';
import { reporting } from '../../parts/toast.ts';
import { place } from '../../router.ts';
import { text, users as words } from '../../text/words.ts';
import { Keys, type KeysOfUser } from './keys.tsx';
import { users } from './page.tsx';
import { allUsers } from './states.ts';

/** The user that the address names. */
export function UserPage() {
  const resource = useResource(async signal => {
    const [, id] = place.value.path;
    return (await allUsers(signal)).find(user => user.id === id) ?? null;
  });
  const { control, dialog } = useRecordActions(users, words, reporting(resource.reload));
  const user = resource.data.value;
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
                  <FactList facts={facts.map(name => [heads[name], users.columns[name](known)])} />
                </section>
              </div>
              <Keys key={known.id} userId={known.id} below={keys => <LostKey keys={keys} />} />
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

/** What to do when the person has lost a key: what follows depends on the keys that are left. */
function LostKey({ keys: { list, required } }: { readonly keys: KeysOfUser }) {
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
            <li>{required ? rest.register : rest.alone}</li>
          </>
        )}
      </ol>
    </section>
  );
}
