/** The dialogs that add a user, and change role and e-mail address. */
import { type Signal, useSignal } from '@preact/signals';
import { textLengths } from '../../../src/contract/limits.ts';
import { type Role, roles } from '../../../src/contract/values.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Field } from '../../parts/field.tsx';
import { dictionary, text } from '../../text/text.ts';
import { NewPasswordFields, useNewPassword } from './password.tsx';
import { changeUser, stateOf } from './requests.ts';
import type { AboutUser } from './user-action.ts';

const roleWords = dictionary('roles');
const userWords = dictionary('users');

/** Adds a user. */
export function CreateUser({ onClose, onDone }: Pick<AboutUser, 'onClose' | 'onDone'>) {
  const words = userWords.value;
  const username = useSignal('');
  const role = useSignal<Role>('VIEWER');
  const email = useSignal('');
  const entered = useNewPassword();
  const submit = async (key: string) => {
    const body = {
      username: username.value.trim(),
      password: entered.password.value,
      role: role.value,
      email: email.value.trim() || null,
    };
    try {
      await changeUser('createUser', { body }, key);
    } finally {
      entered.clear();
    }
    onDone(body.username);
  };
  return (
    <ActionDialog
      title={words.action.create}
      submit={words.action.create}
      isReady={entered.isReady && username.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={words.username}
        value={username.value}
        onText={typed => {
          username.value = typed;
        }}
        required
        autocomplete="off"
        maxLength={textLengths.username}
        placeholder={words.usernameShape}
      />
      <RoleChoice role={role} />
      <EmailField email={email} />
      <NewPasswordFields entered={entered} />
    </ActionDialog>
  );
}

/** Changes role and e-mail address. One's own role stays: a mistake could not be undone. */
export function EditUser({ user, isOwn, onClose, onDone }: AboutUser) {
  const words = userWords.value;
  const given = stateOf(user) === 'removed' ? '' : (user.email ?? '');
  const role = useSignal(user.role);
  const email = useSignal(given);
  const isChanged = role.value !== user.role || email.value.trim() !== given;
  const submit = async (key: string) => {
    const body = {
      ...(role.value !== user.role && { role: role.value }),
      ...(email.value.trim() !== given && { email: email.value.trim() || null }),
    };
    await changeUser('updateUser', { params: { userId: user.id }, body }, key);
    onDone(user.username);
  };
  return (
    <ActionDialog
      title={words.of.edit(user.username)}
      submit={text.value.common.save}
      isReady={isChanged}
      onSubmit={submit}
      onClose={onClose}
    >
      <RoleChoice role={role} fixed={isOwn} />
      <EmailField email={email} />
    </ActionDialog>
  );
}

const RoleChoice = ({ role, fixed = false }: { readonly role: Signal<Role>; readonly fixed?: boolean }) => (
  <Choice
    label={userWords.value.column.role}
    value={role.value}
    values={roles}
    words={roleWords.value.name}
    hint={fixed ? userWords.value.ownRole : roleWords.value.may[role.value]}
    disabled={fixed}
    onChoose={chosen => {
      role.value = chosen;
    }}
  />
);

const EmailField = ({ email }: { readonly email: Signal<string> }) => (
  <Field
    label={userWords.value.email}
    value={email.value}
    onText={typed => {
      email.value = typed;
    }}
    autocomplete="off"
    maxLength={textLengths.email}
  />
);
