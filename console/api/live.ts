/** Loads data again when events concern it, and not for each of them. */
import { useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Notification } from '../../src/contract/events.ts';
import type { Resource } from './resource.ts';
import { onEvents } from './stream.ts';

/** When data is loaded again after an event. In milliseconds. */
interface Pace {
  /** Pause in the events that is waited for. */
  readonly quiet: number;
  /** The longest wait while events continue. */
  readonly most: number;
  /** Least time between two reloads. */
  readonly apart: number;
}

/** At once, but seldom: for what a person reads. */
const soon: Pace = { quiet: 0, most: 0, apart: 5000 };

/** After a pause in the events: for figures that each event changes. A batch of 10,000 is one reload. */
export const settled: Pace = { quiet: 2000, most: 15_000, apart: 0 };

/** Calls `reload` after groups of events that `concerns` accepts. The functions of the first drawing are used. */
export function useRefresh(
  reload: () => void,
  concerns: (events: readonly Notification[]) => boolean,
  { quiet, most, apart }: Pace = soon,
): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let firstAt = 0;
    let loadedAt = Number.NEGATIVE_INFINITY;
    const load = () => {
      timer = undefined;
      loadedAt = performance.now();
      reload();
    };
    const stop = onEvents(events => {
      if (!concerns(events)) return;
      const now = performance.now();
      if (timer === undefined) firstAt = now;
      clearTimeout(timer);
      timer = setTimeout(load, Math.max(0, loadedAt + apart - now, Math.min(quiet, firstAt + most - now)));
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
}

/** Milliseconds between two looks at what the registry has no event for. */
const LOOK_MS = 5000;

/** Loads data again as long as it waits for something that no event reports. */
export function useRepeat<T>({ data, reload }: Resource<T>, isWaiting: (data: T) => boolean): void {
  useSignalEffect(() => {
    if (data.value === undefined || !isWaiting(data.value)) return;
    const timer = setTimeout(reload, LOOK_MS);
    return () => clearTimeout(timer);
  });
}
