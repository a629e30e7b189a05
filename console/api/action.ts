/** Something that the person starts: one at a time, with the problem of the last attempt. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { type Problem, problemOf } from './problem.ts';

interface Action {
  readonly busy: ReadonlySignal<boolean>;
  /** Why the last attempt failed; null if it did not. */
  readonly problem: ReadonlySignal<Problem | null>;
  /** Starts `work`, unless an earlier one is still running. Resolves with whether it succeeded. */
  run(work: () => Promise<void>): Promise<boolean>;
  /** For the `onSubmit` of a form that starts `work`. */
  submit(work: () => Promise<void>): (event: Event) => void;
}

/** An action of a component. */
export function useAction(): Action {
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const run = async (work: () => Promise<void>) => {
    if (busy.peek()) return false;
    busy.value = true;
    problem.value = null;
    try {
      await work();
      return true;
    } catch (error) {
      problem.value = problemOf(error);
      return false;
    } finally {
      busy.value = false;
    }
  };
  const submit = (work: () => Promise<void>) => (event: Event) => {
    event.preventDefault();
    void run(work);
  };
  return { busy, problem, run, submit };
}
