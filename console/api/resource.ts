/** Data of a page, loaded with requests that the next ones replace. */
import { batch, type Signal, signal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type Problem, problemOf } from './problem.ts';

/** What was loaded last, and whether newer data is on its way. */
export interface Resource<T> {
  /** Undefined before the first response. */
  readonly data: Signal<T | undefined>;
  /** Whether `data` is the response to an earlier query: the query has changed, and its response has not arrived yet. */
  readonly isOutdated: Signal<boolean>;
  /** Why the last request failed; null if it did not. */
  readonly problem: Signal<Problem | null>;
  /** Loads again. */
  readonly reload: () => void;
}

/**
 * Loads when the page appears and whenever a signal that `load` reads before its first `await` changes. A request that is still running is aborted
 * then, and when the page goes.
 */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const resource = useMemo(() => {
    const attempt = signal(0);
    return {
      attempt,
      /** The attempt that was loaded last; another one asks for the same again. */
      loaded: -1,
      data: signal<T | undefined>(undefined),
      isOutdated: signal(false),
      problem: signal<Problem | null>(null),
      reload: () => {
        attempt.value++;
      },
    };
  }, []);
  useSignalEffect(() => {
    const attempt = resource.attempt.value;
    if (attempt === resource.loaded) {
      resource.isOutdated.value = resource.data.peek() !== undefined;
      resource.problem.value = null;
    }
    resource.loaded = attempt;
    const abort = new AbortController();
    load(abort.signal).then(
      data => {
        if (abort.signal.aborted) return;
        batch(() => {
          resource.data.value = data;
          resource.isOutdated.value = false;
          resource.problem.value = null;
        });
      },
      error => {
        if (abort.signal.aborted) return;
        resource.problem.value = problemOf(error);
      },
    );
    return () => abort.abort();
  });
  return resource;
}
