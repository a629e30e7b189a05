/** One device. */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { linkTo, place } from '../../router.ts';
import { dictionary } from '../../text/text.ts';
import { Actions } from './actions.tsx';
import { CodeSection } from './code.tsx';
import { EditSection } from './edit.tsx';
import { Facts } from './facts.tsx';
import { History } from './history.tsx';
import { ProofSection } from './proof.tsx';

const deviceWords = dictionary('device');

const Backups = lazy(async () => (await import('./backups.tsx')).Backups);

/** The device that the address names. It follows the changes of others. */
export function DevicePage() {
  const deviceId = useDeviceId();
  const resource = useResource(signal => call('getDevice', { params: { deviceId: deviceId.value } }, { signal }));
  useRefresh(resource.reload, events => events.some(event => event.data.deviceId === deviceId.peek()));
  const device = resource.data.value;
  return (
    <>
      <p>
        <a href={linkTo('devices')}>← {deviceWords.value.back}</a>
      </p>
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

interface SectionsProps {
  readonly device: DeviceDetail;
  readonly onChanged: () => void;
}

function Sections({ device, onChanged }: SectionsProps) {
  const words = deviceWords.value;
  const { deviceId, proof, statistics } = device;
  return (
    <>
      <Facts device={device} />
      <ProofSection proof={proof} />
      <EditSection device={device} onChanged={onChanged} />
      <div class="halves">
        <CodeSection device={device} />
        <Label deviceId={deviceId} />
      </div>
      <History deviceId={deviceId} />
      <section>
        <h2>{words.backups.title}</h2>
        {statistics.backupCount > 0 ? (
          <Backups key={statistics.backupCount} deviceId={deviceId} />
        ) : (
          <p class="hint">{words.backups.none}</p>
        )}
      </section>
    </>
  );
}

/** Labels are printed by the command line, beside the printer. */
function Label({ deviceId }: { readonly deviceId: string }) {
  const words = deviceWords.value.label;
  const command = `devmgr label ${deviceId}`;
  return (
    <section>
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      <p class="bar">
        <code>{command}</code> <CopyButton value={command} />
        <button type="button" onClick={() => print()}>
          {words.print}
        </button>
      </p>
    </section>
  );
}

/** The id in the address. It stays on the way to another page, so that nothing is requested. */
function useDeviceId() {
  return useMemo(() => {
    let last = '';
    return computed(() => {
      const [page, id] = place.value.path;
      if (page === 'devices' && id !== undefined) last = id;
      return last;
    });
  }, []);
}
