/** One device. */
import { mayChange } from '../../api/session.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeSection } from '../../parts/code.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Back, useItem } from '../../parts/item.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useTitle } from '../../router.ts';
import { device as deviceWords } from '../../text/words.ts';
import { Actions, type OfDeviceProps } from './actions.tsx';
import { EditSection } from './edit.tsx';
import { Facts, ProofSection } from './facts.tsx';
import { DeviceHistory } from './history.tsx';
import { useDevice } from './use-device.ts';

const CredentialSection = lazy(async () => (await import('./credentials.tsx')).CredentialSection);
const ReceiptSection = lazy(async () => (await import('../../parts/receipts.tsx')).ReceiptSection);
const Backups = lazy(async () => (await import('./backups.tsx')).Backups);

/** The device that the address names. It follows the changes of others. */
export function DevicePage() {
  const deviceId = useItem('devices');
  const resource = useDevice(deviceId);
  const device = resource.data.value;
  useTitle(deviceId.value, device && (device.model ?? device.manufacturer));
  return (
    <>
      <Back to="devices" words={deviceWords.back} />
      <div class="bar">
        <h1>
          {deviceId.value} {device && <StatusBadge status={device.status} />}
        </h1>
        {device && <Actions device={device} onChanged={resource.reload} />}
      </div>
      <Loaded from={resource}>
        {loaded => <Sections key={loaded.deviceId} device={loaded} onChanged={resource.reload} />}
      </Loaded>
    </>
  );
}

function Sections({ device, onChanged }: OfDeviceProps) {
  const { deviceId, proof, statistics } = device;
  return (
    <>
      <Facts device={device} />
      <div class="story">
        <div>
          <DeviceHistory device={device} />
          {mayChange.value && <CredentialSection deviceId={deviceId} />}
          <ReceiptSection deviceId={deviceId} />
          <section>
            <h2>{deviceWords.backups.title}</h2>
            {statistics.backupCount > 0 ? (
              <Backups
                key={statistics.backupCount}
                deviceId={deviceId}
                isRestorable={mayChange.value && device.status !== 'DEACTIVATED'}
              />
            ) : (
              <p class="hint">{deviceWords.backups.none}</p>
            )}
          </section>
        </div>
        <div class="cards">
          <ProofSection proof={proof} />
          <EditSection device={device} onChanged={onChanged} />
          <CodeSection device={device} />
          <Label deviceId={deviceId} />
        </div>
      </div>
    </>
  );
}

/** Labels are printed by the command line, beside the printer. */
function Label({ deviceId }: { readonly deviceId: string }) {
  const words = deviceWords.label;
  const command = `devmgr label ${deviceId}`;
  return (
    <section>
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      <p class="bar">
        <code>{command}</code> <CopyButton value={command} />
        <Button words={words.print} onClick={() => print()} />
      </p>
    </section>
  );
}
