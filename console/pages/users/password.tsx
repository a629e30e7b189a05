/** The dialog that sets a password, and the fields of a new one. */
import { type Signal, useSignal } from '@preact/signals';
import { passwordLength } from '../../../src/contract/limits.ts';
import { endSession } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { dictionary } from '../../text/text.ts';
import { changeUser } from './requests.ts';
import type { AboutUser } from './user-action.ts';

const userWords = dictionary('users');

/** A new password as it is entered, twice. */
interface NewPassword {
  readonly password: Signal<string>;
  readonly repeat: Signal<string>;
  /** Whether both entries are the same and long enough. */
  readonly isReady: boolean;
  /** Forgets the entries: no password stays after its request. */
  readonly clear: () => void;
}

/** A new password that a form asks for. */
export function useNewPassword(): NewPassword {
  const password = useSignal('');
  const repeat = useSignal('');
  return {
    password,
    repeat,
    isReady: [...password.value].length >= passwordLength.min && password.value === repeat.value,
    clear() {
      password.value = '';
      repeat.value = '';
    },
  };
}

/** The two fields of a new password. */
export function NewPasswordFields({ entered: { password, repeat } }: { readonly entered: NewPassword }) {
  const words = userWords.value;
  const differs = repeat.value !== '' && !password.value.startsWith(repeat.value);
  return (
    <>
      <PasswordField label={words.password} value={password} autocomplete="new-password" />
      <PasswordField
        label={words.repeat}
        value={repeat}
        autocomplete="new-password"
        fault={differs ? words.different : null}
      />
    </>
  );
}

interface PasswordFieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly autocomplete: string;
  readonly fault?: string | null;
}

const PasswordField = ({ value, ...rest }: PasswordFieldProps) => (
  <Field
    {...rest}
    type="password"
    required
    maxLength={passwordLength.max}
    value={value.value}
    onText={typed => {
      value.value = typed;
    }}
  />
);

/** Sets the password of a user. One's own needs the current one. */
export function SetPassword({ user, isOwn, onClose, onDone }: AboutUser) {
  const words = userWords.value;
  const current = useSignal('');
  const entered = useNewPassword();
  const submit = async (key: string) => {
    const body = { password: entered.password.value, ...(isOwn && { oldPassword: current.value }) };
    try {
      await changeUser('setPassword', { params: { userId: user.id }, body }, key);
    } finally {
      entered.clear();
      current.value = '';
    }
    if (isOwn) endSession('expired');
    onDone(user.username);
  };
  return (
    <ActionDialog
      title={words.of.password(user.username)}
      submit={words.action.password}
      isReady={entered.isReady && (!isOwn || current.value !== '')}
      onSubmit={submit}
      onClose={onClose}
    >
      {isOwn && <PasswordField label={words.current} value={current} autocomplete="current-password" />}
      <NewPasswordFields entered={entered} />
      <p class="hint">{isOwn ? words.own : words.passwordEnds}</p>
    </ActionDialog>
  );
}
