/** A choice of one of several values. */
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
