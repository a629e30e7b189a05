/** Entries of a person in a form. */
import { type Signal, signal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';

/** The entries of a form, with what is in them at first. */
export function useEntries<T extends Readonly<Record<string, unknown>>>(
  first: T,
): { readonly [K in keyof T]: Signal<T[K]> } {
  return useMemo(() => {
    const entries = Object.entries(first).map(([name, value]) => [name, signal(value)]);
    return Object.fromEntries(entries) as { [K in keyof T]: Signal<T[K]> };
  }, []);
}

interface LabeledProps {
  readonly label: string;
  /** Why the value is not accepted; null if it is. */
  readonly fault?: string | null | undefined;
  /** Stands below the input if nothing is wrong. */
  readonly hint?: string | undefined;
  /** The input with what connects it to its words. */
  readonly children: (connected: { readonly id: string }) => ComponentChildren;
}

/** An input with its label, hint and fault. */
export function Labeled({ label, fault = null, hint, children }: LabeledProps) {
  const id = useId();
  const below = fault ?? hint;
  const described = { id, 'aria-invalid': fault !== null, ...(below && { 'aria-describedby': `${id}-below` }) };
  return (
    <p class="field">
      <label for={id}>{label}</label>
      {children(described)}
      {below && (
        <small id={`${id}-below`} class={fault === null ? undefined : 'fault'}>
          {below}
        </small>
      )}
    </p>
  );
}

/** Value that a control shows and changes: an entry, or a value with what to do when another one is entered. */
export type BoundField<V, G = V> =
  | { readonly entry: Signal<V>; readonly value?: never; readonly onChange?: never }
  | { readonly entry?: never; readonly value: G; readonly onChange: (value: V) => void };

/** The value, and what changes it. */
export function boundOf<V, G = V>({ entry, value, onChange }: BoundField<V, G>) {
  if (!entry) return { value, onChange };
  const change = (next: V) => {
    entry.value = next;
  };
  return { value: entry.value, onChange: change };
}

export interface FieldOptions extends Pick<LabeledProps, 'label' | 'fault' | 'hint'> {
  readonly type?: 'text' | 'password' | 'search' | 'number' | 'date';
  /** Number of lines. Absent: a single line. */
  readonly rows?: number;
  readonly class?: string;
  /** Absent: the browser offers nothing. */
  readonly autocomplete?: string;
  readonly autofocus?: boolean;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly maxLength?: number;
  /** Id of the texts that are offered. */
  readonly list?: string;
  readonly pattern?: string;
}

/** A text with its label. */
export function Field(props: FieldOptions & BoundField<string>) {
  const { label, fault, hint, entry: _, ...rest } = props;
  const { value, onChange } = boundOf(props);
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onChange(currentTarget.value);
  // Preact types the attributes of each kind of input apart, so a choice of kinds has none of these types.
  const attributes = { ...rest, value, onInput, onChange: undefined } as InputHTMLAttributes & TextareaHTMLAttributes;
  return (
    <Labeled label={label} fault={fault} hint={hint}>
      {connected =>
        rest.rows ? (
          <textarea {...attributes} {...connected} />
        ) : (
          <input autocomplete="off" {...attributes} {...connected} />
        )
      }
    </Labeled>
  );
}

/** Attributes of the field of the person's password. */
export const presentPassword = { type: 'password', autocomplete: 'current-password', required: true } as const;

interface FileFieldProps extends Pick<LabeledProps, 'label' | 'fault' | 'hint'> {
  /** Extensions that the browser offers, with their dots. Absent: all. */
  readonly accept?: readonly string[];
  readonly required?: boolean;
  readonly disabled?: boolean;
  /** Called with null if the person has chosen none. */
  readonly onChoose: (file: File | null, input: HTMLInputElement) => void;
}

/** A file field, with the problem of the file. A file can also be dropped anywhere on the page. */
export function FileField({ label, fault, hint, accept, onChoose, ...rest }: FileFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const end = new AbortController();
    const take = (event: DragEvent) => {
      const input = field.current;
      const files = event.dataTransfer?.files;
      event.preventDefault();
      // A dialog in front of the page has its own field.
      const front = document.querySelector('dialog[open]');
      if (event.type !== 'drop' || !input || input.matches(':disabled') || !files?.length) return;
      if (front && !front.contains(input)) return;
      input.files = files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    };
    for (const type of ['dragover', 'drop'] as const) addEventListener(type, take, { signal: end.signal });
    return () => end.abort();
  }, []);
  return (
    <Labeled label={label} fault={fault} hint={hint}>
      {connected => (
        <input
          {...connected}
          {...rest}
          ref={field}
          type="file"
          {...(accept && { accept: accept.join(',') })}
          onChange={({ currentTarget: input }) => onChoose(input.files?.[0] ?? null, input)}
        />
      )}
    </Labeled>
  );
}
