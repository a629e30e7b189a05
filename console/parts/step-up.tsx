/** The question for a recent sign-in, in front of the page whose request waits for it. */
import { useSignal } from '@preact/signals';
import { Code } from '../../src/contract/codes.ts';
import type { BodyOf } from '../../src/contract/define.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { useAction } from '../api/action.ts';
import { answerOf, canUseKeys } from '../api/keys.ts';
import { call } from '../api/request.ts';
import { replaceToken, session } from '../api/session.ts';
import { answerStepUp } from '../api/step-up.ts';
import { dictionary, text } from '../text/text.ts';
import { ApprovalNote, ApproveButton, useApproval } from './approval/approval.tsx';
import { Dialog } from './dialog.tsx';
import { PasswordField } from './password-field.tsx';
import { ProblemNotice } from './problem.tsx';

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
      <form onSubmit={submit(() => stepUp({ password: password.value }))}>
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

async function stepUpWithKey(): Promise<void> {
  const { options } = await call('getStepUpOptions', {});
  return stepUp({ response: await answerOf(options) });
}

async function stepUp(body: BodyOf<Routes['stepUp']>): Promise<void> {
  const given = session.peek();
  const renewed = await call('stepUp', { body });
  answerStepUp(given ? replaceToken(given, renewed) : false);
}
