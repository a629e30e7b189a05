/** What has changed since the list was loaded. */
import { type ReadonlySignal, signal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useRefresh } from '../../api/live.ts';
import { onEvents } from '../../api/stream.ts';
import type { DeviceList } from './query.ts';

/** Devices that are counted; a larger number is of no use. */
const COUNTED = 10_000;

/** Changes of devices that the page does not show. */
export interface UnseenChanges {
  /** Number of devices. */
  readonly value: number;
  /** Loads the list again. */
  readonly show: () => void;
}

/**
 * Loads the list again when devices that it shows have changed. Changes of others, which can make rows appear and move, are counted until the person
 * asks for them.
 */
export function useChanges(list: ReadonlySignal<DeviceList | undefined>, reload: () => void): UnseenChanges {
  const { others, count } = useMemo(() => ({ others: new Set<string>(), count: signal(0) }), []);
  const isShown = (deviceId: unknown) => list.peek()?.list.some(device => device.deviceId === deviceId) ?? false;
  useRefresh(reload, events => events.some(({ data }) => isShown(data.deviceId)));
  useEffect(
    () =>
      onEvents(events => {
        for (const { id, data } of events)
          if (id !== undefined && typeof data.deviceId === 'string' && others.size < COUNTED && !isShown(data.deviceId))
            others.add(data.deviceId);
        count.value = others.size;
      }),
    [],
  );
  useSignalEffect(() => {
    list.value;
    others.clear();
    count.value = 0;
  });
  return { value: count.value, show: reload };
}
