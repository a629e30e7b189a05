/** Inputs of forms besides a line of text. */
import { type BoundField, boundOf, Labeled } from './field.tsx';

type ChoiceProps<V extends string> = BoundField<V> & {
  readonly label: string;
  readonly values: readonly V[];
  readonly words: Readonly<Record<V, string>>;
  /** Describes the chosen value, or the reason why it cannot be changed. */
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
  /** Whether the label is hidden, because the values explain themselves. */
  readonly isInline?: boolean;
};

/** A list to choose from, with its label. */
export function Choice<V extends string>(props: ChoiceProps<V>) {
  const { label, values, words, hint, disabled = false, isInline = false } = props;
  const { value, onChange } = boundOf(props);
  const select = (attributes: { readonly id?: string; readonly 'aria-label'?: string }) => (
    <select
      {...attributes}
      value={value}
      disabled={disabled}
      onChange={event => onChange(event.currentTarget.value as V)}
    >
      {values.map(each => (
        <option key={each} value={each}>
          {words[each]}
        </option>
      ))}
    </select>
  );
  if (isInline) return select({ 'aria-label': label });
  return (
    <Labeled label={label} hint={hint}>
      {select}
    </Labeled>
  );
}

/** `onChange` gets all that are then chosen, in the order of the boxes. */
type CheckBoxesProps<V extends string> = BoundField<V[], readonly string[]> & {
  readonly label: string;
  readonly values: readonly V[];
  readonly words: Readonly<Record<V, string>>;
};

/** A box for each value of a set. */
export function CheckBoxes<V extends string>(props: CheckBoxesProps<V>) {
  const { label, values, words } = props;
  const { value: chosen, onChange } = boundOf<V[], readonly string[]>(props);
  const toggle = (value: V) => onChange(values.filter(each => chosen.includes(each) !== (each === value)));
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {values.map(value => (
        <label key={value}>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          {words[value]}
        </label>
      ))}
    </fieldset>
  );
}

type CheckBoxProps = BoundField<boolean> & { readonly words: string; readonly disabled?: boolean };

/** A box for one setting. */
export function CheckBox({ words, disabled = false, ...bound }: CheckBoxProps) {
  const { value, onChange } = boundOf(bound);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value}
        disabled={disabled}
        onChange={event => onChange(event.currentTarget.checked)}
      />
      {words}
    </label>
  );
}
