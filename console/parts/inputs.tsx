/** Inputs of forms besides a line of text. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';

interface ChoiceProps<V extends string> {
  readonly label: string;
  readonly value: V;
  /** The values in the order of the list. */
  readonly values: readonly V[];
  /** How each value is written. */
  readonly words: Readonly<Record<V, string>>;
  readonly onChoose: (value: V) => void;
  /** Describes the chosen value, or the reason why it cannot be changed. */
  readonly hint?: string;
  readonly disabled?: boolean;
}

/** A list to choose from, with its label. */
export function Choice<V extends string>(props: ChoiceProps<V>) {
  const { label, value, values, words, onChoose, hint, disabled = false } = props;
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        {...(hint && { 'aria-describedby': `${id}-hint` })}
        onChange={event => onChoose(event.currentTarget.value as V)}
      >
        {values.map(each => (
          <option key={each} value={each}>
            {words[each]}
          </option>
        ))}
      </select>
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </p>
  );
}

interface CheckBoxesProps<V extends string> {
  readonly label: string;
  /** The values in the order of the boxes. */
  readonly values: readonly V[];
  readonly chosen: readonly string[];
  readonly wordOf: (value: V) => string;
  /** Called with all that are then chosen, in the order of the boxes. */
  readonly onChoose: (chosen: V[]) => void;
  readonly disabled?: boolean;
}

/** A box for each value of a set. */
export function CheckBoxes<V extends string>(props: CheckBoxesProps<V>) {
  const { label, values, chosen, wordOf, onChoose, disabled = false } = props;
  const toggle = (value: V) => onChoose(values.filter(each => chosen.includes(each) !== (each === value)));
  return (
    <fieldset class="choices" disabled={disabled}>
      <legend>{label}</legend>
      {values.map(value => (
        <label key={value}>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          {wordOf(value)}
        </label>
      ))}
    </fieldset>
  );
}

interface TextAreaProps {
  readonly label: string;
  readonly entry: Signal<string>;
  readonly rows: number;
  readonly class?: string;
  readonly maxLength?: number;
  readonly hint?: string;
}

/** Lines of text with their label. */
export function TextArea({ label, entry, hint, ...rest }: TextAreaProps) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <textarea
        {...rest}
        id={id}
        value={entry.value}
        {...(hint && { 'aria-describedby': `${id}-hint` })}
        onInput={event => {
          entry.value = event.currentTarget.value;
        }}
      />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </p>
  );
}
