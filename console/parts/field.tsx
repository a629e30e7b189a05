/** What a person enters as a line of text. */
import type { Signal } from '@preact/signals';
import type { InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly type?: 'text' | 'password' | 'search' | 'number' | 'date';
  readonly autocomplete?: string;
  readonly autofocus?: boolean;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly entry: Signal<string>;
  /** Called when the person has changed the entry. */
  readonly onEdit?: () => void;
  /** Why the value is not accepted; null if it is. */
  readonly fault?: string | null;
}

/** A line of text with its label. */
export function Field({ label, entry, onEdit, fault = null, type = 'text', ...rest }: FieldProps) {
  const id = useId();
  // Preact types the attributes of each kind of input apart, so a choice of kinds has none of these types.
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input
        {...({ ...rest, type } as InputHTMLAttributes)}
        id={id}
        value={entry.value}
        aria-invalid={fault !== null}
        {...(fault !== null && { 'aria-describedby': `${id}-fault` })}
        onInput={event => {
          entry.value = event.currentTarget.value;
          onEdit?.();
        }}
      />
      {fault !== null && (
        <small id={`${id}-fault`} class="fault">
          {fault}
        </small>
      )}
    </p>
  );
}
