/** The question for a recent sign-in, in front of the page whose request waits for it. */
import { useSignal } from '@preact/signals';
import { Code } from '../../src/contract/codes.ts';
import { useAction } from '../api/action.ts';
import { canUseKeys } from '../api/keys.ts';
import { answerStepUp } from '../api/step-up.ts';
import { dictionary, text } from '../text/text.ts';
import { ApprovalNote, ApproveButton, useApproval } from './approval/approval.tsx';
import { Dialog } from './dialog.tsx';
import { PasswordField } from './password-field.tsx';
import { ProblemNotice } from './problem.tsx';
import { stepUpWithKey, stepUpWithPassword } from './recent-sign-in.ts';

const signInWords = dictionary('signIn');

/** Shown while a request waits for a recent sign-in. */
export function StepUp() {
  const words = signInWords.value.stepUp;
  const password = useSignal('');
  const { busy, problem, run, submit } = useAction();
  const approval = useApproval();
  return (
    <Dialog title={words.title} onClose={() => answerStepUp(false)}>
      <p>{words.why}</p>
      <form onSubmit={submit(() => stepUpWithPassword(password.value))}>
        <PasswordField entry={password} autofocus />
        {problem.value?.code === Code.wrongPassword ? (
          <p role="alert">{words.wrong}</p>
        ) : (
          <ProblemNotice problem={problem.value} />
        )}
        <ApprovalNote approval={approval} />
        <div class="actions">
          <button type="button" onClick={() => answerStepUp(false)}>
            {text.value.common.cancel}
          </button>
          {canUseKeys() && (
            <ApproveButton approval={approval} disabled={busy.value} onClick={() => void run(stepUpWithKey)}>
              {words.withKey}
            </ApproveButton>
          )}
          <ApproveButton approval={approval} type="submit" class="main" disabled={busy.value}>
            {signInWords.value.signIn.submit}
          </ApproveButton>
        </div>
      </form>
    </Dialog>
  );
}
