/** The form of an action. It is loaded when an action is chosen. */
import { eventOfOperation } from '../../src/contract/event-types.ts';
import { call, newKey } from '../api/request.ts';
import { device as deviceWords, text } from '../text/words.ts';
import { ActionDialog } from './action-dialog.tsx';
import type { SingleOperation } from './device-columns.tsx';
import { type EnteredFields, enteredFor, isComplete, OperationFields, useOperationEntries } from './operations.tsx';
import { toast } from './toast.ts';

type SendAction = (deviceId: string, entered: Required<EnteredFields>, key: string) => Promise<unknown>;

/** How each action is sent. The form has asked for what it needs. */
const send: Readonly<Record<SingleOperation, SendAction>> = {
  ACTIVATE: (deviceId, entered, key) => call('activateDevice', { body: { deviceId, ...entered } }, { key }),
  LOCK: (deviceId, body, key) => call('lockDevice', { params: { deviceId }, body }, { key }),
  UNLOCK: (deviceId, body, key) => call('unlockDevice', { params: { deviceId }, body }, { key }),
  GENERATE_CODE: (deviceId, entered, key) =>
    call('generateActivationCode', { body: { deviceId, ...entered } }, { key }),
  DEACTIVATE: (deviceId, body, key) => call('deactivateDevice', { params: { deviceId }, body }, { key }),
};

interface ActionFormProps {
  readonly name: SingleOperation;
  readonly deviceId: string;
  /** Called after the action, and after it was undone. */
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks for the action's fields and reports it. A lock can be undone; retirement needs the device's id and a password. */
export function ActionForm({ name, deviceId, onDone, onClose }: ActionFormProps) {
  const words = deviceWords.action;
  const entries = useOperationEntries();
  const report = (done: SingleOperation) => `${deviceId}: ${text.event[eventOfOperation(done)]}`;
  const unlock = async () => {
    await call('unlockDevice', { params: { deviceId }, body: {} }, { key: newKey() });
    onDone();
    return report('UNLOCK');
  };
  return (
    <ActionDialog
      title={`${text.action[name]}: ${deviceId}`}
      submit={text.action[name]}
      isDangerous={name === 'DEACTIVATE'}
      isReady={isComplete(name, entries, deviceId)}
      onClose={onClose}
      onSubmit={async key => {
        await send[name](deviceId, enteredFor(name, entries) as Required<EnteredFields>, key);
        toast(report(name), name === 'LOCK' ? unlock : undefined);
        onDone();
      }}
    >
      {name !== 'DEACTIVATE' && <p class="hint">{words[name]}</p>}
      <OperationFields name={name} entries={entries} confirmation={words.deviceId(deviceId)} />
    </ActionDialog>
  );
}
