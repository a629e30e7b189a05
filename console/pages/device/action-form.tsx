/** The form of an action. It is loaded when an action is chosen. */
import type { BatchOperation } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { dictionary, text } from '../../text/text.ts';
import {
  type EnteredFields,
  enteredFor,
  isConfirmed,
  OperationFields,
  useOperationEntries,
} from '../devices/operations.tsx';

const deviceWords = dictionary('device');

type SendAction = (deviceId: string, entered: Required<EnteredFields>, key: string) => Promise<unknown>;

/** How each action is sent. The form has asked for what it needs. */
const send: Readonly<Record<BatchOperation, SendAction>> = {
  ACTIVATE: (deviceId, entered, key) => call('activateDevice', { body: { deviceId, ...entered } }, { key }),
  LOCK: (deviceId, body, key) => call('lockDevice', { params: { deviceId }, body }, { key }),
  UNLOCK: (deviceId, body, key) => call('unlockDevice', { params: { deviceId }, body }, { key }),
  GENERATE_CODE: (deviceId, entered, key) =>
    call('generateActivationCode', { body: { deviceId, ...entered } }, { key }),
  DEACTIVATE: (deviceId, body, key) => call('deactivateDevice', { params: { deviceId }, body }, { key }),
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
  const entries = useOperationEntries();
  return (
    <ActionDialog
      title={`${text.value.action[name]}: ${deviceId}`}
      submit={text.value.action[name]}
      isDangerous={name === 'DEACTIVATE'}
      isReady={isConfirmed(name, entries, deviceId)}
      onClose={onClose}
      onSubmit={async key => {
        await send[name](deviceId, enteredFor(name, entries) as Required<EnteredFields>, key);
        onDone();
      }}
    >
      {name !== 'DEACTIVATE' && <p class="hint">{words[name]}</p>}
      <OperationFields name={name} entries={entries} confirmation={words.deviceId(deviceId)} />
    </ActionDialog>
  );
}
