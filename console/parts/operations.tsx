/** Entries of a person for an operation on devices. */
import type { Signal } from '@preact/signals';
import { activationCodeDays, textLengths } from '../../src/contract/limits.ts';
import { isTagName, parseTag, type TagChanges } from '../../src/contract/tags.ts';
import type { BatchOperation } from '../../src/contract/values.ts';
import type { Input } from '../api/request.ts';
import { isAdmin } from '../api/session.ts';
import { useIsOfProvider } from '../api/sso.ts';
import { entries as words } from '../text/words.ts';
import { Field, presentPassword, useEntries } from './field.tsx';
import { PersonField } from './person-field.tsx';

const needed = {
  ACTIVATE: ['userId', 'activationCode'],
  LOCK: ['reason'],
  UNLOCK: ['note'],
  GENERATE_CODE: ['reason', 'validityDays'],
  DEACTIVATE: ['reason'],
  UPDATE: ['setTags', 'removeTags'],
} as const satisfies Readonly<Record<BatchOperation, readonly (keyof typeof shapes)[]>>;

const shapes = {
  userId: { required: true },
  activationCode: { required: true },
  reason: { required: true, maxLength: textLengths.reason },
  note: { maxLength: textLengths.note },
  setTags: {},
  removeTags: {},
  validityDays: { type: 'number', placeholder: `${activationCodeDays.default}` },
} as const;

const first = {
  setTags: '',
  removeTags: '',
  userId: '',
  activationCode: '',
  reason: '',
  note: '',
  validityDays: '',
  confirm: '',
  password: '',
};

type BodyOf<N extends 'activateDevice' | 'generateActivationCode' | 'deactivateDevice'> = Input<N>['body'];
type Bodies = BodyOf<'activateDevice'> & BodyOf<'generateActivationCode'> & BodyOf<'deactivateDevice'>;

type OperationEntries = ReturnType<typeof useEntries<typeof first>>;

/** Entered values for a request. Absent: not entered. */
export type EnteredFields = Partial<Omit<Bodies, 'deviceId'> & { readonly tags: TagChanges }>;

/** The entries of an operation. */
export const useOperationEntries = (): OperationEntries => useEntries(first);

/** Whether an operation can start. One that cannot be undone is confirmed by typing `expected`; a change of tags needs valid ones. */
export function isComplete(name: BatchOperation, entries: OperationEntries, expected: string): boolean {
  if (name === 'UPDATE') return tagChangesIn(entries) !== null;
  return name !== 'DEACTIVATE' || entries.confirm.value.trim() === expected;
}

/** The change of tags that was entered; null if there is none, or a part of it is not valid. */
function tagChangesIn({ setTags, removeTags }: OperationEntries): TagChanges | null {
  const set = setTags.value.split('\n').filter(line => line.trim());
  const tags = set.flatMap(line => parseTag(line) ?? []);
  const removed = removeTags.value.split(/[\s,]/).filter(Boolean);
  if (tags.length < set.length || !removed.every(isTagName) || set.length + removed.length === 0) return null;
  return Object.fromEntries([...removed.map(name => [name, null]), ...tags.map(({ name, value }) => [name, value])]);
}

/** Entered values of an operation. */
export function enteredFor(name: BatchOperation, entries: OperationEntries): EnteredFields {
  if (name === 'UPDATE') return { tags: tagChangesIn(entries) ?? {} };
  const given = needed[name].map(entry => [entry, entries[entry].value.trim()] as const).filter(([, text]) => text);
  return {
    ...Object.fromEntries(given.map(([entry, text]) => [entry, entry === 'validityDays' ? Number(text) : text])),
    // A sign-in at a provider confirms with any text.
    ...(name === 'DEACTIVATE' && { confirmPassword: entries.password.value || 'none' }),
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
  return (
    <>
      {needed[name].map(entry =>
        entry === 'setTags' ? (
          <Field key={entry} label={words[entry]} entry={entries[entry]} rows={3} />
        ) : entry === 'userId' ? (
          <PersonField key={entry} label={words[entry]} entry={entries[entry]} {...shapes[entry]} />
        ) : (
          <Field key={entry} label={words[entry]} entry={entries[entry]} {...shapes[entry]} />
        ),
      )}
      {name === 'DEACTIVATE' && (
        <>
          <p class="fault">{words.final}</p>
          <Field label={confirmation} entry={entries.confirm} />
          <Confirmation password={entries.password} />
        </>
      )}
    </>
  );
}

/** The password of an administrator. One whom a provider signs in has none: the sign-in there confirms, if it is recent. */
export function Confirmation({ password }: { readonly password: Signal<string> }) {
  const isOfProvider = useIsOfProvider();
  if (isOfProvider === null) return null;
  if (isOfProvider && isAdmin.value) return <p class="hint">{words.byProvider}</p>;
  return <Field {...presentPassword} label={words.password} entry={password} />;
}
