/** The bench for a daemon that has hardware. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { PersonField } from '../../parts/person-field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { bench as benchWords, text } from '../../text/words.ts';
import { type Bench, benchOf } from './bench.ts';
import { KeyFollower } from './key-follower.ts';
import { RosterSection } from './roster.tsx';
import { listen } from './scanner.ts';
import { focusStage, Stage } from './stage.tsx';

const IssueSection = lazy(async () => (await import('./issue-choice.tsx')).IssueSection);
const Results = lazy(async () => (await import('./results.tsx')).Results);

/** Binds keys to people, for the person who is signed in. */
export function Station({ userId }: { readonly userId: string }) {
  const run = benchOf(userId);
  const reader = useMemo(() => new KeyFollower(run), [run]);
  useEffect(() => reader.start(), [reader]);
  useEffect(() => {
    // Before the first badge is complete, or the first file is chosen, the run is there.
    const prepare = () => run.prepare();
    for (const type of ['keydown', 'pointerdown']) addEventListener(type, prepare, { once: true });
    return () => {
      for (const type of ['keydown', 'pointerdown']) removeEventListener(type, prepare);
    };
  }, [run]);
  useEffect(() => {
    const listening = listen(what => {
      run.take(what);
      if (what.type === 'badge') focusStage();
    });
    run.isTyping = listening.isTyping;
    return () => {
      run.isTyping = () => false;
      listening.stop();
    };
  }, [run]);
  return (
    <>
      <ProblemNotice problem={reader.problem.value} retry={reader.reload} />
      {run.hasFailed.value && <p role="alert">{text.problem.crashed}</p>}
      <p class="hint">{benchWords.intro}</p>
      <CallForm run={run} />
      <Stage run={run} />
      <IssueSection run={run} />
      <RosterSection run={run} />
      {run.view.value.results.length > 0 && <Results run={run} />}
    </>
  );
}

/** Calls a person by user id, with a roster also by name; without one, the persons of the registry are offered. */
function CallForm({ run }: { readonly run: Bench }) {
  const words = benchWords.call;
  const typed = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed.value.trim() === '') return;
    run.take({ type: 'badge', text: typed.value.trim() });
    typed.value = '';
    // Enter commits where no control has the focus.
    focusStage();
  };
  return (
    <form class="line" onSubmit={submit}>
      {run.view.value.roster ? (
        <Field label={words.roster} entry={typed} />
      ) : (
        <PersonField label={words.open} entry={typed} />
      )}
      <button type="submit">{words.submit}</button>
      <span class="hint">{words.hint}</span>
    </form>
  );
}
