/** The dialogs that add a user and change one. */
import type { Signal } from '@preact/signals';
import { textLengths } from '../../../src/contract/limits.ts';
import type { User } from '../../../src/contract/users.ts';
import type { Role } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import type { DialogProps, RecordDialogProps } from '../../parts/records.tsx';
import { RoleChoice } from '../../parts/role-choice.tsx';
import { text, users as words } from '../../text/words.ts';
import { clearPassword, isPassword, NewPasswordFields, newPassword } from './password.tsx';
import { isOwn, stateOf } from './states.ts';

/** Adds a user. */
export function CreateUser({ onClose, onDone }: DialogProps) {
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
      isReady={isPassword(entries) && username.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={text.column.userName}
        entry={username}
        required
        maxLength={textLengths.username}
        placeholder={words.usernameShape}
      />
      <RoleChoice role={role} />
      <EmailField email={email} />
      <NewPasswordFields entries={entries} />
    </ActionDialog>
  );
}

/** Changes role and e-mail address. One's own role stays: a mistake could not be undone. */
export function EditUser({ record: user, onClose, onDone }: RecordDialogProps<User>) {
  const given = stateOf(user) === 'removed' ? '' : (user.email ?? '');
  // The provider decides who is a HOLDER.
  const present = user.role === 'HOLDER' ? null : user.role;
  const { role, email } = useEntries<{ role: Role; email: string }>({ role: present ?? 'VIEWER', email: given });
  const body = {
    ...(present && role.value !== present && { role: role.value }),
    ...(email.value.trim() !== given && { email: email.value.trim() || null }),
  };
  const submit = async (key: string) => {
    await call('updateUser', { params: { userId: user.id }, body }, { key });
    onDone(words.done.edit(user.username));
  };
  return (
    <ActionDialog
      title={text.common.of(words.action.edit, user.username)}
      submit={text.common.save}
      isReady={Object.keys(body).length > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {present && <RoleChoice role={role} fixedBecause={isOwn(user) ? words.ownRole : undefined} />}
      <EmailField email={email} />
    </ActionDialog>
  );
}

const EmailField = ({ email }: { readonly email: Signal<string> }) => (
  <Field label={text.common.optional(text.column.email)} entry={email} maxLength={textLengths.email} />
);
