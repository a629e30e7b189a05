/** The form of an action. It is loaded when an action is chosen. */
import { useSignal } from '@preact/signals';
import { textLengths } from '../../../src/contract/limits.ts';
import type { BatchOperation } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { dictionary, text } from '../../text/text.ts';

const entryWords = dictionary('entries');
const deviceWords = dictionary('device');

/** What a person enters; an optional entry may be empty. */
type FormEntries = Readonly<Record<FormEntryName, string>>;
type FormEntryName = 'reason' | 'note' | 'validityDays' | 'userId' | 'activationCode' | 'password' | 'deviceId';
const empty: FormEntries = {
  reason: '',
  note: '',
  validityDays: '',
  userId: '',
  activationCode: '',
  password: '',
  deviceId: '',
};
const optional: readonly FormEntryName[] = ['note', 'validityDays'];

interface FormAction {
  readonly entries: readonly FormEntryName[];
  readonly explanation: 'activate' | 'lock' | 'unlock' | 'newCode' | 'final';
  readonly send: (deviceId: string, entries: FormEntries, key: string) => Promise<unknown>;
}

/** What each action needs and sends. */
const actions: Readonly<Record<BatchOperation, FormAction>> = {
  ACTIVATE: {
    entries: ['userId', 'activationCode'],
    explanation: 'activate',
    send: (deviceId, { userId, activationCode }, key) =>
      call('activateDevice', { body: { deviceId, userId, activationCode } }, { key }),
  },
  LOCK: {
    entries: ['reason'],
    explanation: 'lock',
    send: (deviceId, { reason }, key) => call('lockDevice', { params: { deviceId }, body: { reason } }, { key }),
  },
  UNLOCK: {
    entries: ['note'],
    explanation: 'unlock',
    send: (deviceId, { note }, key) =>
      call('unlockDevice', { params: { deviceId }, body: note ? { note } : {} }, { key }),
  },
  GENERATE_CODE: {
    entries: ['reason', 'validityDays'],
    explanation: 'newCode',
    send: (deviceId, { reason, validityDays }, key) => {
      const body = { deviceId, reason, ...(validityDays && { validityDays: Number(validityDays) }) };
      return call('generateActivationCode', { body }, { key });
    },
  },
  DEACTIVATE: {
    entries: ['reason', 'deviceId', 'password'],
    explanation: 'final',
    send: (deviceId, { reason, password }, key) =>
      call('deactivateDevice', { params: { deviceId }, body: { reason, confirmPassword: password } }, { key }),
  },
};

interface ActionFormProps {
  readonly name: BatchOperation;
  readonly deviceId: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks for what the action needs. Retirement cannot be undone: it needs the id of the device and a password. */
export function ActionForm({ name, deviceId, onDone, onClose }: ActionFormProps) {
  const words = deviceWords.value.action;
  const entered = useSignal(empty);
  const { entries, explanation, send } = actions[name];
  const isFinal = name === 'DEACTIVATE';
  return (
    <ActionDialog
      title={`${text.value.action[name]}: ${deviceId}`}
      submit={text.value.action[name]}
      isDangerous={isFinal}
      isReady={!isFinal || entered.value.deviceId.trim() === deviceId}
      onClose={onClose}
      onSubmit={async key => {
        await send(deviceId, entered.peek(), key);
        onDone();
      }}
    >
      <p class={isFinal ? 'fault' : 'hint'}>{words[explanation]}</p>
      {entries.map(entry => (
        <Field
          key={entry}
          label={entry === 'deviceId' ? words.deviceId(deviceId) : entryWords.value[entry]}
          type={entry === 'password' ? 'password' : entry === 'validityDays' ? 'number' : 'text'}
          autocomplete={entry === 'password' ? 'current-password' : 'off'}
          required={!optional.includes(entry)}
          {...(entry === 'reason' || entry === 'note' ? { maxLength: textLengths[entry] } : {})}
          value={entered.value[entry]}
          onText={typed => {
            entered.value = { ...entered.value, [entry]: typed };
          }}
        />
      ))}
    </ActionDialog>
  );
}
