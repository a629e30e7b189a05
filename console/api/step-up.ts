/** Signing in again: some changes need a sign-in of the last ten minutes. */
import { effect, signal } from '@preact/signals';
import { setOnStepUp } from './request.ts';
import { session } from './session.ts';

interface PendingSignIn {
  /** Resolved with true after the sign-in, with false if the person does not want it. */
  readonly asked: Promise<boolean>;
  readonly resolve: (done: boolean) => void;
}

/** Set while requests wait for the person to sign in again. */
export const waiting = signal<PendingSignIn | null>(null);

/** Asks the person to sign in again when the daemon wants that. Requests that wait at the same time wait for the same sign-in. */
export function startStepUp(): void {
  setOnStepUp(() => {
    const present = waiting.peek();
    if (present) return present.asked;
    const { promise: asked, resolve } = Promise.withResolvers<boolean>();
    waiting.value = { asked, resolve };
    return asked;
  });
  // The next person in this tab must not make a change of this one.
  effect(() => {
    if (!session.value) answerStepUp(false);
  });
}

/** Ends the question: the requests continue, or fail as they would have. */
export function answerStepUp(done: boolean): void {
  waiting.peek()?.resolve(done);
  waiting.value = null;
}
