/** Copies text to the clipboard. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { text } from '../text/text.ts';

/** A button that copies a text. Browsers offer a clipboard over HTTPS and at localhost; elsewhere it shows no button. */
export function CopyButton({ value }: { readonly value: string }) {
  const words = text.value.common;
  const copied = useSignal<string | null>(null);
  if (!window.isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    copied.value = value;
  };
  return (
    <button type="button" onClick={() => void copy().catch(() => {})}>
      {copied.value === value ? words.copied : words.copy}
    </button>
  );
}

/** A text that can be selected and copied, with its label. */
export function CopyField({ label, value }: { readonly label: string; readonly value: string }) {
  const id = useId();
  return (
    <div class="inline">
      <p class="field wide-field">
        <label for={id}>{label}</label>
        <input id={id} class="code" readOnly value={value} onFocus={event => event.currentTarget.select()} />
      </p>
      <CopyButton value={value} />
    </div>
  );
}
