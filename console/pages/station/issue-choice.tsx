/** At which providers keys are issued, and the PIN that a key is asked for. */
import { useSignal } from '@preact/signals';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { CheckBoxes, Choice } from '../../parts/inputs.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { text, stationIssue as words } from '../../text/words.ts';
import type { StationRun } from './run.ts';
import type { PinRequest } from './station-view.ts';

/** Nothing if the registry has no providers. */
export function IssueSection({ run }: { readonly run: StationRun }) {
  const { data, problem, reload } = useResource(signal => call('listProviders', {}, { signal }));
  const { issue, asked } = run.view.value;
  const all = data.value?.list ?? [];
  const setsPin = issue?.setsPin ?? true;
  const choose = (chosen: readonly string[], sets: boolean) => {
    // No more than these: the choice is stored in the tab.
    const providers = all
      .filter(({ providerId }) => chosen.includes(providerId))
      .map(({ providerId, name }) => ({ providerId, name }));
    run.issueAt(providers.length > 0 ? { providers, setsPin: sets } : null);
  };
  const chosen = issue?.providers.map(({ providerId }) => providerId) ?? [];
  return (
    <>
      <ProblemNotice problem={problem.value} retry={reload} />
      {all.length > 0 && (
        <section>
          <h2>{words.title}</h2>
          <p class="hint">{words.hint}</p>
          <CheckBoxes
            label={words.providers}
            values={all.map(({ providerId }) => providerId)}
            words={Object.fromEntries(all.map(({ providerId, name }) => [providerId, name]))}
            value={chosen}
            onChange={ids => choose(ids, setsPin)}
          />
          {issue && (
            <Choice
              label={words.pin}
              values={['ask', 'none'] as const}
              words={words.pins}
              value={setsPin ? 'ask' : 'none'}
              onChange={value => choose(chosen, value === 'ask')}
            />
          )}
        </section>
      )}
      {asked && <PinDialog key={asked.keyId} asked={asked} />}
    </>
  );
}

/** The PIN is in the field until it is sent, and nowhere else. */
function PinDialog({ asked }: { readonly asked: PinRequest }) {
  const { serialNumber, retries, check, answer, cancel } = asked;
  const [pin, again] = [useSignal(''), useSignal('')];
  const fault = useSignal<string | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const typed = pin.value;
    const unfit = check?.(typed);
    if (unfit) fault.value = words.unfit[unfit.what](unfit.bound);
    else fault.value = check && typed !== again.value ? words.differs : null;
    if (fault.value !== null) return;
    pin.value = '';
    again.value = '';
    answer(typed);
  };
  const left = retries === null ? '' : words.left(retries);
  return (
    <Dialog title={check ? words.newPin(serialNumber) : words.pinOf(serialNumber)} onClose={cancel}>
      <form onSubmit={submit}>
        <Field
          label={words.pin}
          type="password"
          required
          hint={check ? words.none : left}
          fault={fault.value}
          entry={pin}
        />
        {check && <Field label={words.again} type="password" required entry={again} />}
        <p class="actions">
          <Button words={text.common.cancel} onClick={cancel} />
          <Button words={words.use} type="submit" class="main" />
        </p>
      </form>
    </Dialog>
  );
}
