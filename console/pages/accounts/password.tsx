/** The dialog that sets a password, and the fields of a new one. */
import { batch, type Signal } from '@preact/signals';
import { passwordLength } from '../../../src/contract/limits.ts';
import type { User } from '../../../src/contract/users.ts';
import { call } from '../../api/request.ts';
import { endSession } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { users as words } from '../../text/words.ts';
import { isOwn } from './states.ts';

/** The entries of a new password, which is entered twice. */
export const newPassword = { password: '', repeat: '' };

type NewPassword = Readonly<{ password: Signal<string>; repeat: Signal<string> }>;

/** Whether both entries are the same and long enough. */
export const isPassword = ({ password, repeat }: NewPassword): boolean =>
  [...password.value].length >= passwordLength.min && password.value === repeat.value;

/** Forgets the entries: no password stays after its request. */
export function clearPassword({ password, repeat }: NewPassword): void {
  batch(() => {
    password.value = '';
    repeat.value = '';
  });
}

const shape = { type: 'password', required: true, maxLength: passwordLength.max } as const;

/** The two fields of a new password. */
export function NewPasswordFields({ entries: { password, repeat } }: { readonly entries: NewPassword }) {
  const differs = repeat.value !== '' && !password.value.startsWith(repeat.value);
  return (
    <>
      <Field {...shape} label={words.password} entry={password} autocomplete="new-password" />
      <Field
        {...shape}
        label={words.repeat}
        entry={repeat}
        autocomplete="new-password"
        fault={differs ? words.different : null}
      />
    </>
  );
}

/** Sets the password of a user. One's own needs the current one. */
export function SetPassword({ record: user, onClose, onDone }: RecordDialogProps<Pick<User, 'id' | 'username'>>) {
  const entries = useEntries({ current: '', ...newPassword });
  const { current, password } = entries;
  const mustProve = isOwn(user);
  const submit = async (key: string) => {
    const body = { password: password.value, ...(mustProve && { oldPassword: current.value }) };
    await call('setPassword', { params: { userId: user.id }, body }, { key }).finally(() => {
      clearPassword(entries);
      current.value = '';
    });
    if (mustProve) endSession('expired');
    onDone(words.done.password(user.username));
  };
  return (
    <ActionDialog
      title={words.of.password(user.username)}
      submit={words.action.password}
      isReady={isPassword(entries) && (!mustProve || current.value !== '')}
      onSubmit={submit}
      onClose={onClose}
    >
      {mustProve && <Field {...shape} label={words.current} entry={current} autocomplete="current-password" />}
      <NewPasswordFields entries={entries} />
      <p class="hint">{mustProve ? words.own : words.passwordEnds}</p>
    </ActionDialog>
  );
}
