/** Actions on a device. */
import { useSignal } from '@preact/signals';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import { mayChange } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { operationsOf, type SingleOperation } from '../../parts/device-columns.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { MoreButton } from '../../parts/menu.tsx';
import { device as deviceWords } from '../../text/words.ts';

const ActionForm = lazyDialog(async () => (await import('../../parts/action-form.tsx')).ActionForm);
const AddBackup = lazyDialog(async () => (await import('./dialogs.tsx')).AddBackup);
const RecordUse = lazyDialog(async () => (await import('./dialogs.tsx')).RecordUse);

/** The device that a page shows, and what to do when it was changed. */
export type OfDeviceProps = Readonly<{ device: DeviceDetail; onChanged: () => void }>;

/** The main action that the state of the device allows, and a menu with the others; none for a VIEWER. */
export function Actions({ device, onChanged }: OfDeviceProps) {
  const open = useSignal<SingleOperation | 'backup' | 'use' | null>(null);
  const { deviceId, status } = device;
  if (!mayChange.value) return null;
  const choose = (name: typeof open.value) => () => (open.value = name);
  const onClose = choose(null);
  const [main, ...others] = operationsOf(status, name => (open.value = name));
  const more = [
    { words: `${deviceWords.backups.add} …`, onChoose: choose('backup') },
    { words: `${deviceWords.use.title} …`, onChoose: choose('use') },
  ];
  const groups = [
    { items: others.filter(({ isDangerous }) => !isDangerous) },
    { items: status === 'ACTIVE' ? more : [] },
    { items: others.filter(({ isDangerous }) => isDangerous) },
  ];
  return (
    <>
      {main && <Button words={main.words} class="main" onClick={main.onChoose} />}
      <MoreButton of={deviceId} groups={groups} />
      {open.value === 'backup' && <AddBackup deviceId={deviceId} onDone={onChanged} onClose={onClose} />}
      {open.value === 'use' && <RecordUse deviceId={deviceId} onDone={onChanged} onClose={onClose} />}
      {open.value && open.value !== 'backup' && open.value !== 'use' && (
        <ActionForm name={open.value} deviceId={deviceId} onDone={onChanged} onClose={onClose} />
      )}
    </>
  );
}
