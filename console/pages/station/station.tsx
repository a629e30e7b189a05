/** The station for a daemon that has hardware. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { PersonField } from '../../parts/person-field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { station as stationWords } from '../../text/words.ts';
import { IssueSection } from './issue-choice.tsx';
import { KeyFollower } from './key-follower.ts';
import { Results } from './results.tsx';
import { RosterSection } from './roster.tsx';
import type { StationRun } from './run.ts';
import { listen } from './scanner.ts';
import { focusStage, Stage } from './stage.tsx';
import { runOf } from './tab-run.ts';

/** Binds keys to people, for the person who is signed in. */
export function Station({ userId }: { readonly userId: string }) {
  const run = runOf(userId);
  const reader = useMemo(() => new KeyFollower(run), [run]);
  useEffect(() => reader.start(), [reader]);
  useEffect(() => {
    const listening = listen(what => {
      run.take(what);
      if (what.type === 'badge') focusStage();
    });
    reader.isTyping = listening.isTyping;
    return listening.stop;
  }, [reader]);
  return (
    <>
      <ProblemNotice problem={reader.problem.value} retry={reader.reload} />
      <p class="hint">{stationWords.intro}</p>
      <CallForm run={run} />
      <Stage run={run} />
      <IssueSection run={run} />
      <RosterSection run={run} />
      {run.view.value.results.length > 0 && <Results run={run} />}
    </>
  );
}

const controls = 'dialog, main :is(a, button, input, select, textarea, summary)';

/** Calls a person by user id, with a roster also by name; without one, the persons of the registry are offered. */
function CallForm({ run }: { readonly run: StationRun }) {
  const words = stationWords.call;
  const typed = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const { person, roster } = run.view.value;
  const isAwaited = !person && !roster;
  // Where no person is next, the field has the focus, unless the operator uses another control; where one is, Enter commits.
  useEffect(() => {
    const { activeElement } = document;
    const field = form.current?.querySelector('input');
    if (!isAwaited && activeElement === field && typed.peek() === '') focusStage();
    if (isAwaited && !activeElement?.closest(controls)) field?.focus();
  }, [isAwaited]);
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed.value.trim() === '') return;
    run.take({ type: 'badge', text: typed.value.trim() });
    typed.value = '';
    // Enter commits where no control has the focus.
    focusStage();
  };
  return (
    <form class="line" ref={form} onSubmit={submit}>
      {roster ? <Field label={words.roster} entry={typed} /> : <PersonField label={words.open} entry={typed} />}
      <Button words={words.submit} type="submit" />
      <span class="hint">{words.hint}</span>
    </form>
  );
}
