/** The security keys that the person signs in with, and who has to have one. */
import { session } from '../../api/session.ts';
import { DialogButton } from '../../parts/button.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { text, account as words } from '../../text/words.ts';
import { Keys } from './keys.tsx';

const SetPassword = lazyDialog(async () => (await import('./password.tsx')).SetPassword);

/** The person's own account. */
export function AccountPage() {
  const present = session.value;
  if (!present) return null;
  const { user, mustRegisterKey = false } = present;
  return (
    <>
      <h1>
        {user.username} <small>{text.role[user.role]}</small>
      </h1>
      {mustRegisterKey && <p role="status">{words.mustRegister}</p>}
      {!mustRegisterKey && (
        <p>
          <DialogButton
            words={words.password}
            dialog={onClose => <SetPassword record={user} onDone={() => {}} onClose={onClose} />}
          />
        </p>
      )}
      <Keys userId={user.id} />
    </>
  );
}
