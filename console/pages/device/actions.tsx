/** What can be done with a device. */
import { useSignal } from '@preact/signals';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { operationStates } from '../../../src/contract/operation-states.ts';
import type { BatchOperation } from '../../../src/contract/values.ts';
import { mayChange } from '../../api/session.ts';
import { lazy } from '../../parts/lazy.tsx';
import { text } from '../../text/text.ts';

const ActionForm = lazy(async () => (await import('./action-form.tsx')).ActionForm);

/** In the order of the buttons. */
const names: readonly BatchOperation[] = ['ACTIVATE', 'LOCK', 'UNLOCK', 'GENERATE_CODE', 'DEACTIVATE'];

interface ActionsProps {
  readonly device: DeviceDetail;
  /** Called after an action. */
  readonly onChanged: () => void;
}

/** A button for each action that the state of the device allows; none for a VIEWER. */
export function Actions({ device, onChanged }: ActionsProps) {
  const open = useSignal<BatchOperation | null>(null);
  if (!mayChange.value) return null;
  return (
    <>
      {names
        .filter(name => (operationStates[name] as readonly string[]).includes(device.status))
        .map(name => (
          <button
            key={name}
            type="button"
            class={name === 'DEACTIVATE' ? 'danger' : ''}
            onClick={() => {
              open.value = name;
            }}
          >
            {text.value.action[name]} …
          </button>
        ))}
      {open.value && (
        <ActionForm
          name={open.value}
          deviceId={device.deviceId}
          onDone={onChanged}
          onClose={() => {
            open.value = null;
          }}
        />
      )}
    </>
  );
}
