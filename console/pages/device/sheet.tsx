/** A device at the side of the list. */
import type { ReadonlySignal } from '@preact/signals';
import { StatusBadge } from '../../parts/badge.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Sheet } from '../../parts/sheet.tsx';
import { Actions } from './actions.tsx';
import { Facts, ProofSection } from './facts.tsx';
import { DeviceHistory } from './history.tsx';
import { useDevice } from './use-device.ts';

interface DeviceSheetProps {
  readonly deviceId: ReadonlySignal<string>;
  readonly onStep: (by: 1 | -1) => void;
  readonly onClose: () => void;
  /** Called after a change of the device. */
  readonly onChanged: () => void;
}

/** What its page shows, without what is rarely needed, and the same actions. */
export function DeviceSheet({ deviceId, onStep, onClose, onChanged }: DeviceSheetProps) {
  const resource = useDevice(deviceId);
  const device = resource.data.value;
  const change = () => {
    resource.reload();
    onChanged();
  };
  const id = deviceId.value;
  const title = (
    <>
      <DeviceLink id={id} /> {device?.deviceId === id && <StatusBadge status={device.status} />}
    </>
  );
  return (
    <Sheet title={title} onStep={onStep} onClose={onClose}>
      <Loaded from={resource}>
        {loaded => (
          <>
            <div class="bar">
              <Actions key={loaded.deviceId} device={loaded} onChanged={change} />
            </div>
            <Facts device={loaded} />
            <DeviceHistory key={loaded.deviceId} device={loaded} />
            <ProofSection proof={loaded.proof} />
          </>
        )}
      </Loaded>
    </Sheet>
  );
}
