/** Data of a page, loaded with requests that the next ones replace. */
import { type Signal, signal, useSignalEffect } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type Problem, problemOf } from './problem.ts';

/** What was loaded last, and whether newer data is on its way. */
export interface Resource<T> {
  /** Undefined before the first response. */
  readonly data: Signal<T | undefined>;
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
      data: signal<T | undefined>(undefined),
      problem: signal<Problem | null>(null),
      reload: () => {
        attempt.value++;
      },
    };
  }, []);
  useSignalEffect(() => {
    resource.attempt.value;
    const abort = new AbortController();
    load(abort.signal).then(
      data => {
        if (abort.signal.aborted) return;
        resource.data.value = data;
        resource.problem.value = null;
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
