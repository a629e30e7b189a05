/** What a person enters for an operation on devices. */
import { activationCodeDays, textLengths } from '../../../src/contract/limits.ts';
import type { BatchOperation } from '../../../src/contract/values.ts';
import { useEntries } from '../../parts/entries.ts';
import { Field } from '../../parts/field.tsx';
import { dictionary } from '../../text/text.ts';

const entryWords = dictionary('entries');

/** What each operation needs besides its devices. */
const needed = {
  ACTIVATE: ['userId', 'activationCode'],
  LOCK: ['reason'],
  UNLOCK: ['note'],
  GENERATE_CODE: ['reason', 'validityDays'],
  DEACTIVATE: ['reason'],
} as const satisfies Readonly<Record<BatchOperation, readonly (keyof typeof shapes)[]>>;

const shapes = {
  userId: { required: true },
  activationCode: { required: true },
  reason: { required: true, maxLength: textLengths.reason },
  note: { maxLength: textLengths.note },
  validityDays: { type: 'number', placeholder: `${activationCodeDays.default}` },
} as const;

const first = { userId: '', activationCode: '', reason: '', note: '', validityDays: '', confirm: '', password: '' };

/** The entries of a form. */
type OperationEntries = ReturnType<typeof useEntries<typeof first>>;

/** What was entered, for a request. Absent: not entered. */
export interface EnteredFields {
  readonly userId?: string;
  readonly activationCode?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly validityDays?: number;
  readonly confirmPassword?: string;
}

/** The entries of an operation. */
export const useOperationEntries = (): OperationEntries => useEntries(first);

/** Whether the person has confirmed an operation that cannot be undone: by typing `expected`. Others need no confirmation. */
export const isConfirmed = (name: BatchOperation, { confirm }: OperationEntries, expected: string): boolean =>
  name !== 'DEACTIVATE' || confirm.value.trim() === expected;

/** What was entered for an operation. */
export function enteredFor(name: BatchOperation, entries: OperationEntries): EnteredFields {
  const given = needed[name].map(entry => [entry, entries[entry].value.trim()] as const).filter(([, text]) => text);
  return {
    ...Object.fromEntries(given.map(([entry, text]) => [entry, entry === 'validityDays' ? Number(text) : text])),
    ...(name === 'DEACTIVATE' && { confirmPassword: entries.password.value }),
  };
}

interface OperationFieldsProps {
  readonly name: BatchOperation;
  readonly entries: OperationEntries;
  /** Asks for the text that confirms the retirement of devices. */
  readonly confirmation: string;
}

/** The fields of an operation. Retiring devices cannot be undone: it needs a confirmation and a password. */
export function OperationFields({ name, entries, confirmation }: OperationFieldsProps) {
  const words = entryWords.value;
  return (
    <>
      {needed[name].map(entry => (
        <Field key={entry} label={words[entry]} entry={entries[entry]} autocomplete="off" {...shapes[entry]} />
      ))}
      {name === 'DEACTIVATE' && (
        <>
          <p class="fault">{words.final}</p>
          <Field label={confirmation} entry={entries.confirm} autocomplete="off" />
          <Field
            label={words.password}
            type="password"
            autocomplete="current-password"
            required
            entry={entries.password}
          />
        </>
      )}
    </>
  );
}
