/** Loads data again when events concern it, and not for each of them: after a pause in the events, or at once but seldom. */
import { useEffect } from 'preact/hooks';
import type { Notification } from '../../src/contract/events.ts';
import { onEvents } from './stream.ts';

/** Milliseconds without an event after which data is loaded again, and the longest wait while events go on. */
const wait = { quiet: 2000, most: 15_000 };

/** Milliseconds between two reloads. */
const APART_MS = 5000;

/** Calls `reload` some time after events that `concerns` accepts: once for a batch of 10,000, not 10,000 times. */
export function useReloadAfterEvents(reload: () => void, concerns: (event: Notification) => boolean): void {
  // Both functions mean the same at each drawing of the page, so the first ones are kept.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let firstAt = 0;
    const later = () => {
      const now = Date.now();
      if (timer === undefined) firstAt = now;
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          reload();
        },
        Math.max(0, Math.min(wait.quiet, firstAt + wait.most - now)),
      );
    };
    const stop = onEvents(events => {
      if (events.some(concerns)) later();
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
}

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
