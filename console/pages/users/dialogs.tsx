import { endSession, session } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { dictionary } from '../../text/text.ts';
import { CreateUser, EditUser } from './edit.tsx';
import { SetPassword } from './password.tsx';
import { changeUser, disabling } from './requests.ts';
import type { AboutUser, DialogSubject } from './user-action.ts';

const userWords = dictionary('users');

interface UserDialogProps {
  readonly asked: DialogSubject;
  readonly onClose: () => void;
  /** Called after the change, with the name of the user. */
  readonly onDone: (username: string) => void;
}

/** The dialog of an action. */
export function UserDialog({ asked, ...rest }: UserDialogProps) {
  if (asked.action === 'create') return <CreateUser {...rest} />;
  const { user, action } = asked;
  const about = { user, isOwn: user.id === session.value?.user.id, ...rest };
  if (action === 'edit') return <EditUser {...about} />;
  if (action === 'password') return <SetPassword {...about} />;
  return action === 'logout' ? <LogOut {...about} /> : <Disable {...about} />;
}

function LogOut({ user, isOwn, onClose, onDone }: AboutUser) {
  const words = userWords.value;
  const submit = async (key: string) => {
    await changeUser('logoutUser', { params: { userId: user.id } }, key);
    if (isOwn) endSession('expired');
    onDone(user.username);
  };
  return (
    <ActionDialog
      title={words.of.logout(user.username)}
      submit={words.action.logout}
      isDangerous
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{words.ask.logout}</p>
      {isOwn && <p>{words.own}</p>}
    </ActionDialog>
  );
}

function Disable({ user, onClose, onDone }: AboutUser) {
  const words = userWords.value;
  const action = user.disabled ? 'enable' : 'disable';
  const submit = async (key: string) => {
    await changeUser('updateUser', { params: { userId: user.id }, body: disabling(user) }, key);
    onDone(user.username);
  };
  return (
    <ActionDialog
      title={words.of[action](user.username)}
      submit={words.action[action]}
      isDangerous={action === 'disable'}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{words.ask[action]}</p>
    </ActionDialog>
  );
}
