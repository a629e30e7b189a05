/** The device that is shown at the side of the list, and how it follows the rows. */
import { computed, type ReadonlySignal, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { lazy } from '../../parts/lazy.tsx';
import { linkTo } from '../../router.ts';
import type { Device } from './query.ts';

const DeviceSheet = lazy(async () => (await import('../device/sheet.tsx')).DeviceSheet);

const linkOf = (id: string | null) =>
  document.querySelector<HTMLElement>(`main tbody th a[href="${linkTo(`devices/${encodeURIComponent(id ?? '')}`)}"]`);

/** The id of the device, null if none is shown, and its sheet. `onChanged`: after a change by its actions. */
export function usePeek(
  devices: ReadonlySignal<{ readonly list: readonly Device[] } | undefined>,
  onChanged: () => void,
) {
  const peeked = useSignal<string | null>(null);
  /** The sheet keeps its device while it goes. */
  const shown = useMemo(() => {
    let last = '';
    return computed(() => {
      last = peeked.value ?? last;
      return last;
    });
  }, []);
  /** Its row; one that has gone, with its filter, had this place. */
  const last = useRef(0);
  const step = (by: 1 | -1) => {
    const ids = devices.peek()?.list.map(({ deviceId }) => deviceId) ?? [];
    const at = ids.indexOf(shown.peek());
    const next = at >= 0 ? at + by : last.current - (by < 0 ? 1 : 0);
    const id = ids[next];
    if (id === undefined) return;
    last.current = next;
    peeked.value = id;
    linkOf(id)?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  };
  const show = (id: string) => {
    last.current = devices.peek()?.list.findIndex(({ deviceId }) => deviceId === id) ?? 0;
    peeked.value = id;
  };
  const close = () => {
    // The focus returns before what has it goes.
    linkOf(peeked.peek())?.focus();
    peeked.value = null;
  };
  const sheet = peeked.value !== null && (
    <DeviceSheet deviceId={shown} onStep={step} onClose={close} onChanged={onChanged} />
  );
  return { peeked, show, sheet };
}
