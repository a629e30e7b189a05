/** The security keys that the person signs in with, and who has to have one. */
import { isAdmin, session } from '../../api/session.ts';
import { dictionary } from '../../text/text.ts';
import { Keys } from './keys.tsx';
import { Policy } from './policy.tsx';

const words = dictionary('account');
const roleWords = dictionary('roles');

/** The person's own account. */
export function AccountPage() {
  const present = session.value;
  if (!present) return null;
  const { user, mustRegisterKey = false } = present;
  return (
    <>
      <h1>
        {user.username} <small>{roleWords.value.name[user.role]}</small>
      </h1>
      {mustRegisterKey && <p role="status">{words.value.mustRegister}</p>}
      <Keys />
      {isAdmin.value && !mustRegisterKey && <Policy />}
    </>
  );
}
