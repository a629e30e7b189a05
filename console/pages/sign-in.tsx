/** The sign-in with user name and password. */
import { useSignal } from '@preact/signals';
import { type Problem, problemOf } from '../api/problem.ts';
import { call } from '../api/request.ts';
import { ended, useSession } from '../api/session.ts';
import { Field } from '../parts/field.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { text } from '../text/text.ts';

/** Asks who the person is. */
export function SignInPage() {
  const words = text.value.signIn;
  const username = useSignal('');
  const password = useSignal('');
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    try {
      useSession(await call('login', { body: { username: username.value, password: password.value } }));
    } catch (error) {
      problem.value = problemOf(error);
    }
    busy.value = false;
  };
  const wrong = problem.value?.code === 1002 || problem.value?.code === 1003;
  return (
    <main class="sign-in">
      <h1>devmgr</h1>
      <form onSubmit={submit} aria-label={words.title}>
        {ended.value && <p role="status">{words[ended.value]}</p>}
        <Field
          label={words.username}
          value={username.value}
          onText={typed => {
            username.value = typed;
          }}
          autocomplete="username"
          autofocus
          required
        />
        <Field
          label={words.password}
          type="password"
          value={password.value}
          onText={typed => {
            password.value = typed;
          }}
          autocomplete="current-password"
          required
        />
        {wrong ? <p role="alert">{words.wrong}</p> : <ProblemNotice problem={problem.value} />}
        <button type="submit" class="main" disabled={busy.value}>
          {words.submit}
        </button>
        <p class="hint">{words.local}</p>
      </form>
    </main>
  );
}
