/** The sign-in: user name and password, a security key, or both. */
import { useSignal } from '@preact/signals';
import { Code } from '../../src/contract/codes.ts';
import { useAction } from '../api/action.ts';
import { answerOf, canUseKeys } from '../api/keys.ts';
import { Problem } from '../api/problem.ts';
import { call } from '../api/request.ts';
import { ended, useSession } from '../api/session.ts';
import { Field } from '../parts/field.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { dictionary } from '../text/text.ts';

const signInWords = dictionary('signIn');

/** Marks the session: some changes in it need a recent sign-in. */
const session = 'CONSOLE';

/** Of the login with a password, if the user must sign in with a key as well. */
interface SecondStep {
  readonly loginTicket: string;
  /** Absent where the address of the page allows no keys. */
  readonly secondFactor?: object;
}

/** Asks who the person is. */
export function SignInPage() {
  const words = signInWords.value.signIn;
  const username = useSignal('');
  const password = useSignal('');
  const { busy, problem, run, submit } = useAction();
  const isWrong = problem.value?.code === Code.userNotFound || problem.value?.code === Code.wrongPassword;
  return (
    <main class="sign-in">
      <h1>devmgr</h1>
      <form aria-label={words.title} onSubmit={submit(() => withPassword(username.value, password.value))}>
        {ended.value && <p role="status">{words[ended.value]}</p>}
        <Field label={words.username} entry={username} autocomplete="username" autofocus required />
        <PasswordField entry={password} />
        {isWrong ? <p role="alert">{words.wrong}</p> : <ProblemNotice problem={problem.value} />}
        <button type="submit" class="main" disabled={busy.value}>
          {words.submit}
        </button>
      </form>
      {canUseKeys() && (
        <button type="button" class="with-key" disabled={busy.value} onClick={() => void run(withKey)}>
          {words.withKey}
        </button>
      )}
      <p class="hint">
        {words.local.before} <code>devmgr open</code> {words.local.after}
      </p>
    </main>
  );
}

async function withPassword(username: string, password: string): Promise<void> {
  try {
    useSession(await call('login', { body: { username, password, session } }));
  } catch (error) {
    const next = secondStepOf(error);
    if (!next) throw error;
    // Keys do not work at this address; the page reports this.
    if (!next.secondFactor) throw new Problem('key', 'address');
    const response = await answerOf(next.secondFactor);
    useSession(await call('signInWithKey', { body: { response, loginTicket: next.loginTicket, session } }));
  }
}

async function withKey(): Promise<void> {
  const { options } = await call('getSignInOptions', {});
  useSession(await call('signInWithKey', { body: { response: await answerOf(options), session } }));
}

function secondStepOf(error: unknown): SecondStep | null {
  if (!(error instanceof Problem) || error.code !== Code.tokenInvalid) return null;
  const data = error.data as SecondStep | null;
  return data && typeof data.loginTicket === 'string' ? data : null;
}
