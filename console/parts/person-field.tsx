/** A field for the user name of a person. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { personsNamed, usePaused } from '../api/people.ts';
import { call } from '../api/request.ts';
import { useResource } from '../api/resource.ts';
import { entries as words } from '../text/words.ts';
import { Field, type FieldOptions } from './field.tsx';

const OFFERED = 8;

type PersonFieldProps = FieldOptions & { readonly entry: Signal<string> };

/** Offers the persons whose names contain the typed text. Other texts are accepted, too, unless the policy requires a person. */
export function PersonField({ entry, ...rest }: PersonFieldProps) {
  const id = useId();
  const typed = entry.value.trim();
  const asked = usePaused(typed);
  const found = useResource(async signal => ({
    keyword: asked.value,
    list: await personsNamed(asked.value, OFFERED, signal),
  }));
  const policy = useResource(signal => call('showPeoplePolicy', {}, { signal }));
  const { keyword, list = [] } = found.data.value ?? {};
  const isKnown = keyword !== typed || list.some(({ userName, active }) => userName === typed && active);
  const mustChoose = typed !== '' && !isKnown && policy.data.value?.personsRequired === true;
  return (
    <>
      {/* No text has the first pattern: the form is not sent. */}
      <Field
        {...rest}
        entry={entry}
        list={id}
        fault={mustChoose ? words.unknownPerson : null}
        pattern={mustChoose ? '(?!)' : '.*'}
      />
      <datalist id={id}>
        {list
          .filter(({ active }) => active)
          .map(({ personId, userName, name }) => (
            <option key={personId} value={userName} label={name === null ? userName : `${name} · ${userName}`} />
          ))}
      </datalist>
    </>
  );
}
