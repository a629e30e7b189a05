/** Data of a page, loaded with requests that the next ones replace. */
import { batch, effect, type Signal, signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Problem, problemOf } from './problem.ts';

/** Data that was loaded last, and whether newer data is on its way. */
export interface Resource<T> {
  /** Undefined before the first response. */
  readonly data: Signal<T | undefined>;
  /** Whether `data` is the response to an earlier query: the query has changed, and its response has not arrived yet. */
  readonly isOutdated: Signal<boolean>;
  /** Why the last request failed; null if it did not. */
  readonly problem: Signal<Problem | null>;
  readonly reload: () => void;
}

/** A cached response of a page that was left. */
interface RecalledResponse<T> {
  readonly data: T | undefined;
  /** Whether it is shown without being loaded again. */
  readonly isFresh: boolean;
  readonly keep: (data: T) => void;
}

/**
 * Loads when the page appears and whenever a signal that `load` reads before its first `await` changes. A request that is still
 * running is aborted then, and when the page goes. `recall`: what was kept of the same query, which is shown at once.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  recall: () => RecalledResponse<T> = () => ({ data: undefined, isFresh: false, keep: () => {} }),
): Resource<T> {
  const resource = useMemo(() => {
    const attempt = signal(0);
    return {
      attempt,
      /** The attempt that was loaded last; another one asks for the same again. */
      loaded: -1,
      data: signal(recall().data),
      isOutdated: signal(false),
      problem: signal<Problem | null>(null),
      reload: () => attempt.value++,
    };
  }, []);
  const take = (data: T | undefined) =>
    batch(() => {
      resource.data.value = data;
      resource.isOutdated.value = false;
      resource.problem.value = null;
    });
  const start = () => {
    const attempt = resource.attempt.value;
    const isReload = attempt > Math.max(resource.loaded, 0);
    const isOther = attempt === resource.loaded;
    resource.loaded = attempt;
    const recalled = recall();
    if (!isReload && recalled.data !== undefined) {
      take(recalled.data);
      if (recalled.isFresh) return;
    } else if (isOther) {
      resource.isOutdated.value = resource.data.peek() !== undefined;
      resource.problem.value = null;
    }
    const abort = new AbortController();
    load(abort.signal).then(
      data => {
        if (abort.signal.aborted) return;
        recalled.keep(data);
        take(data);
      },
      error => {
        if (abort.signal.aborted) return;
        resource.problem.value = problemOf(error);
      },
    );
    return () => abort.abort();
  };
  const latest = useRef(start);
  latest.current = start;
  // The request is on its way while the browser draws the rest of the page.
  useLayoutEffect(() => effect(() => latest.current()), []);
  return resource;
}
