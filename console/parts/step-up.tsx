/** The question for a recent sign-in, in front of the page whose request waits for it. */
import { useSignal } from '@preact/signals';
import { useAction } from '../api/action.ts';
import { canUseKeys } from '../api/keys.ts';
import { answerStepUp, stepUpWithKey, stepUpWithPassword } from '../api/step-up.ts';
import { text } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { PasswordField } from './field.tsx';
import { ProblemNotice } from './problem.tsx';

/** Shown while a request waits for a recent sign-in. */
export function StepUp() {
  const words = text.value.stepUp;
  const password = useSignal('');
  const { busy, problem, run } = useAction();
  return (
    <Dialog title={words.title} onClose={() => answerStepUp(false)}>
      <p>{words.why}</p>
      <form
        onSubmit={event => {
          event.preventDefault();
          void run(() => stepUpWithPassword(password.value));
        }}
      >
        <PasswordField entry={password} autofocus />
        {problem.value?.code === 1003 ? <p role="alert">{words.wrong}</p> : <ProblemNotice problem={problem.value} />}
        <div class="actions">
          <button type="button" onClick={() => answerStepUp(false)}>
            {text.value.common.cancel}
          </button>
          {canUseKeys() && (
            <button type="button" disabled={busy.value} onClick={() => void run(stepUpWithKey)}>
              {words.withKey}
            </button>
          )}
          <button type="submit" class="main" disabled={busy.value}>
            {text.value.signIn.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
