/** The sign-in: user name and password, a security key, or both. */
import { useSignal } from '@preact/signals';
import { Code } from '../../../src/contract/codes.ts';
import { ssoProblems } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import { answerOf, canUseKeys, localAddress } from '../../api/keys.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { ended, useSession } from '../../api/session.ts';
import { signInAtProvider, useProvider } from '../../api/sso.ts';
import { Button } from '../../parts/button.tsx';
import { Field, presentPassword } from '../../parts/field.tsx';
import { Logo } from '../../parts/icon.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { place } from '../../router.ts';
import { signIn as signInWords, text } from '../../text/words.ts';

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
  const words = signInWords.signIn;
  const username = useSignal('');
  const password = useSignal('');
  const { busy, problem, run, submit } = useAction();
  const provider = useProvider(true);
  const refusal = refusalIn(place.value.query.get('sso'));
  const isWrong = problem.value?.code === Code.userNotFound || problem.value?.code === Code.wrongPassword;
  return (
    <main class="sign-in">
      <h1>
        <Logo />
        devmgr
      </h1>
      <form aria-label={words.submit} onSubmit={submit(() => withPassword(username.value, password.value))}>
        {ended.value && <p role="status">{words[ended.value]}</p>}
        {refusal && <p role="alert">{refusal}</p>}
        <Field label={text.column.userName} entry={username} autocomplete="username" autofocus required />
        <Field {...presentPassword} label={words.password} entry={password} />
        {isWrong ? <p role="alert">{words.wrong}</p> : <ProblemNotice problem={problem.value} />}
        <Button words={words.submit} type="submit" class="main" disabled={busy.value} />
      </form>
      {provider !== null && (
        <Button
          words={text.common.signInWith(provider)}
          class="with-key"
          disabled={busy.value}
          onClick={() => void run(() => signInAtProvider(false))}
        />
      )}
      {canUseKeys() ? (
        <Button words={words.withKey} class="with-key" disabled={busy.value} onClick={() => void run(withKey)} />
      ) : (
        localAddress() && (
          <p>
            <a href={localAddress() ?? ''}>{text.problem.atLocalhost}</a>
          </p>
        )
      )}
      <p class="hint">
        {words.local.before} <code>devmgr open</code> {words.local.after}
      </p>
    </main>
  );
}

/** Why the provider refused the sign-in; null if the address names no reason. */
function refusalIn(named: string | null): string | null {
  const reason = ssoProblems.find(one => one === named);
  return reason === undefined ? null : signInWords.provider[reason];
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
