/** The person as text: what a badge would say. */
import { useSignal } from '@preact/signals';
import { Field } from '../../parts/field.tsx';
import { dictionary } from '../../text/text.ts';
import type { Bench } from './bench.ts';
import { focusStage } from './stage.tsx';

const benchWords = dictionary('bench');

/** Calls a person by user id, with a roster also by name. */
export function CallForm({ run }: { readonly run: Bench }) {
  const words = benchWords.value.call;
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
      <Field label={run.view.value.roster ? words.roster : words.open} entry={typed} autocomplete="off" />
      <button type="submit">{words.submit}</button>
      <span class="hint">{words.hint}</span>
    </form>
  );
}
