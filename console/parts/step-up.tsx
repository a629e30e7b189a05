/** The question for a recent sign-in, in front of the page whose request waits for it. */
import { useSignal } from '@preact/signals';
import { Code } from '../../src/contract/codes.ts';
import type { BodyOf } from '../../src/contract/define.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { useAction } from '../api/action.ts';
import { answerOf, canUseKeys } from '../api/keys.ts';
import { call } from '../api/request.ts';
import { replaceToken, session } from '../api/session.ts';
import { signInAtProvider, useIsOfProvider, useProvider } from '../api/sso.ts';
import { answerStepUp } from '../api/step-up.ts';
import { signIn as signInWords, text } from '../text/words.ts';
import { ApprovalNote, ApproveButton, useApproval } from './approval/approval.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field, presentPassword } from './field.tsx';
import { ProblemNotice } from './problem.tsx';

/** Shown while a request waits for a recent sign-in, as soon as it is known what the person can sign in with. */
export function StepUp() {
  const isOfProvider = useIsOfProvider();
  return isOfProvider === null ? null : <Question isOfProvider={isOfProvider} />;
}

/** Who signed in at a provider has no password here. */
function Question({ isOfProvider }: { readonly isOfProvider: boolean }) {
  const words = signInWords.stepUp;
  const password = useSignal('');
  const { busy, problem, run, submit } = useAction();
  const approval = useApproval();
  const provider = useProvider(isOfProvider);
  return (
    <Dialog title={words.title} onClose={() => answerStepUp(false)}>
      <p>{words.why}</p>
      <form onSubmit={submit(() => stepUp({ password: password.value }))}>
        {!isOfProvider && <Field {...presentPassword} label={signInWords.signIn.password} entry={password} autofocus />}
        {problem.value?.code === Code.wrongPassword ? (
          <p role="alert">{words.wrong}</p>
        ) : (
          <ProblemNotice problem={problem.value} />
        )}
        <ApprovalNote approval={approval} />
        <div class="actions">
          <Button words={text.common.cancel} onClick={() => answerStepUp(false)} />
          {provider !== null && (
            <ApproveButton
              approval={approval}
              disabled={busy.value}
              onClick={() => void run(() => signInAtProvider(true))}
            >
              {text.common.signInWith(provider)}
            </ApproveButton>
          )}
          {canUseKeys() && (
            <ApproveButton approval={approval} disabled={busy.value} onClick={() => void run(stepUpWithKey)}>
              {words.withKey}
            </ApproveButton>
          )}
          {!isOfProvider && (
            <ApproveButton approval={approval} type="submit" class="main" disabled={busy.value}>
              {signInWords.signIn.submit}
            </ApproveButton>
          )}
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
