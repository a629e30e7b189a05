/** Inputs of forms besides a line of text. */
import type { Signal } from '@preact/signals';
import { Labeled } from './field.tsx';

/** What is chosen: the value of a signal, or one that is given with what to do when it changes. */
type Chosen<V, G = V> = { readonly entry: Signal<V> } | { readonly value: G; readonly onChoose: (value: V) => void };

const chosenIn = <V, G>(props: Chosen<V, G>) =>
  'entry' in props ? { value: props.entry.value, onChoose: (value: V): unknown => (props.entry.value = value) } : props;

type ChoiceProps<V extends string> = Chosen<V> & {
  readonly label: string;
  readonly values: readonly V[];
  readonly words: Readonly<Record<V, string>>;
  /** Describes the chosen value, or the reason why it cannot be changed. */
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
  /** Whether the label is not shown: the values say what they are of. */
  readonly isInline?: boolean;
};

/** A list to choose from, with its label. */
export function Choice<V extends string>(props: ChoiceProps<V>) {
  const { label, values, words, hint, disabled = false, isInline = false } = props;
  const { value, onChoose } = chosenIn(props);
  const select = (attributes: { readonly id?: string; readonly 'aria-label'?: string }) => (
    <select
      {...attributes}
      value={value}
      disabled={disabled}
      onChange={event => onChoose(event.currentTarget.value as V)}
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

/** `onChoose` gets all that are then chosen, in the order of the boxes. */
type CheckBoxesProps<V extends string> = Chosen<V[], readonly string[]> & {
  readonly label: string;
  readonly values: readonly V[];
  readonly words: Readonly<Record<V, string>>;
};

/** A box for each value of a set. */
export function CheckBoxes<V extends string>(props: CheckBoxesProps<V>) {
  const { label, values, words } = props;
  const { value: chosen, onChoose } = chosenIn<V[], readonly string[]>(props);
  const toggle = (value: V) => onChoose(values.filter(each => chosen.includes(each) !== (each === value)));
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

type CheckBoxProps = Readonly<{ words: string; entry: Signal<boolean> }>;

/** A box for one setting. */
export const CheckBox = ({ words, entry }: CheckBoxProps) => (
  <label class="check">
    <input type="checkbox" checked={entry.value} onChange={event => (entry.value = event.currentTarget.checked)} />
    {words}
  </label>
);

interface TextAreaProps {
  readonly label: string;
  readonly entry: Signal<string>;
  readonly rows: number;
  readonly class?: string;
  readonly maxLength?: number;
  readonly hint?: string;
}

/** Lines of text with their label. */
export const TextArea = ({ label, entry, hint, ...rest }: TextAreaProps) => (
  <Labeled label={label} hint={hint}>
    {connected => (
      <textarea
        {...rest}
        {...connected}
        value={entry.value}
        onInput={event => (entry.value = event.currentTarget.value)}
      />
    )}
  </Labeled>
);
