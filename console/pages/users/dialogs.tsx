/** The dialogs that add a user, change one, and end sessions. */
import type { Signal } from '@preact/signals';
import { textLengths } from '../../../src/contract/limits.ts';
import type { User } from '../../../src/contract/users.ts';
import type { Role } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { endSession } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { useEntries } from '../../parts/entries.ts';
import { Field } from '../../parts/field.tsx';
import type { DialogProps, RecordDialogProps } from '../../parts/records.tsx';
import { RoleChoice } from '../../parts/role-choice.tsx';
import { dictionary, text } from '../../text/text.ts';
import { clearPassword, isPassword, NewPasswordFields, newPassword } from './password.tsx';
import { isOwn, stateOf } from './states.ts';

const userWords = dictionary('users');

/** Adds a user. */
export function CreateUser({ onClose, onDone }: DialogProps) {
  const words = userWords.value;
  const entries = useEntries({ username: '', role: 'VIEWER' as Role, email: '', ...newPassword });
  const { username, role, email, password } = entries;
  const submit = async (key: string) => {
    const body = {
      username: username.value.trim(),
      password: password.value,
      role: role.value,
      email: email.value.trim() || null,
    };
    await call('createUser', { body }, { key }).finally(() => clearPassword(entries));
    onDone(words.done.create(body.username));
  };
  return (
    <ActionDialog
      title={words.action.create}
      submit={words.action.create}
      isReady={isPassword(entries) && username.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={words.username}
        entry={username}
        required
        autocomplete="off"
        maxLength={textLengths.username}
        placeholder={words.usernameShape}
      />
      <RoleChoice label={words.column.role} role={role} />
      <EmailField email={email} />
      <NewPasswordFields entries={entries} />
    </ActionDialog>
  );
}

/** Changes role and e-mail address. One's own role stays: a mistake could not be undone. */
export function EditUser({ record: user, onClose, onDone }: RecordDialogProps<User>) {
  const words = userWords.value;
  const given = stateOf(user) === 'removed' ? '' : (user.email ?? '');
  const { role, email } = useEntries({ role: user.role, email: given });
  const body = {
    ...(role.value !== user.role && { role: role.value }),
    ...(email.value.trim() !== given && { email: email.value.trim() || null }),
  };
  const submit = async (key: string) => {
    await call('updateUser', { params: { userId: user.id }, body }, { key });
    onDone(words.done.edit(user.username));
  };
  return (
    <ActionDialog
      title={words.of.edit(user.username)}
      submit={text.value.common.save}
      isReady={Object.keys(body).length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <RoleChoice label={words.column.role} role={role} fixedBecause={isOwn(user) ? words.ownRole : undefined} />
      <EmailField email={email} />
    </ActionDialog>
  );
}

const EmailField = ({ email }: { readonly email: Signal<string> }) => (
  <Field label={userWords.value.email} entry={email} autocomplete="off" maxLength={textLengths.email} />
);

/** Ends all sessions of a user. */
export function LogOut({ record: user, onClose, onDone }: RecordDialogProps<User>) {
  const words = userWords.value;
  const submit = async (key: string) => {
    await call('logoutUser', { params: { userId: user.id } }, { key });
    if (isOwn(user)) endSession('expired');
    onDone(words.done.logout(user.username));
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
      {isOwn(user) && <p>{words.own}</p>}
    </ActionDialog>
  );
}

/** Disables a user, or enables one. Enabling takes the mark of a removal away. */
export function Disable({ record: user, onClose, onDone }: RecordDialogProps<User>) {
  const words = userWords.value;
  const action = user.disabled ? 'enable' : 'disable';
  const submit = async (key: string) => {
    const body = { disabled: !user.disabled, ...(stateOf(user) === 'removed' && { email: null }) };
    await call('updateUser', { params: { userId: user.id }, body }, { key });
    onDone(words.done[action](user.username));
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
