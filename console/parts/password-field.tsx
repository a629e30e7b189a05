/** The password for a sign-in. */
import type { Signal } from '@preact/signals';
import { dictionary } from '../text/text.ts';
import { Field } from './field.tsx';

const signInWords = dictionary('signIn');

/** The password of the person who signs in. */
export const PasswordField = ({ entry, autofocus = false }: { entry: Signal<string>; autofocus?: boolean }) => (
  <Field
    label={signInWords.value.signIn.password}
    type="password"
    entry={entry}
    autocomplete="current-password"
    autofocus={autofocus}
    required
  />
);
