/** A device with its newest events. */
import type { ReadonlySignal } from '@preact/signals';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { historyPage } from './history.tsx';

/** The device with this id. It follows the changes of others. */
export function useDevice(deviceId: ReadonlySignal<string>) {
  const resource = useResource(signal =>
    call('getDevice', { params: { deviceId: deviceId.value }, query: { events: historyPage } }, { signal }),
  );
  useRefresh(resource.reload, events => events.some(event => event.data.deviceId === deviceId.peek()));
  return resource;
}
