/** Loads data again when events concern it, and not more often than every five seconds. */
import { useEffect } from 'preact/hooks';
import type { Notification } from '../../src/contract/events.ts';
import { onEvents } from './stream.ts';

/** Milliseconds between two reloads. */
const APART_MS = 5000;

/** Calls `reload` when `concerns` accepts a group of events: at once, or when the last reload was long enough ago. */
export function useRefresh(reload: () => void, concerns: (events: readonly Notification[]) => boolean): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = Number.NEGATIVE_INFINITY;
    const load = () => {
      timer = undefined;
      last = performance.now();
      reload();
    };
    const stop = onEvents(events => {
      if (concerns(events)) timer ??= setTimeout(load, Math.max(0, last + APART_MS - performance.now()));
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
}
