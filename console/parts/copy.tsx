/** Copies text to the clipboard. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { text } from '../text/text.ts';

interface CopyProps {
  readonly value: string;
  readonly onCopied?: (() => void) | undefined;
}

/** A button that copies a text. Browsers offer a clipboard over HTTPS and at localhost; elsewhere it shows no button. */
export function CopyButton({ value, onCopied }: CopyProps) {
  const words = text.value.common;
  const copied = useSignal<string | null>(null);
  if (!window.isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    copied.value = value;
    onCopied?.();
  };
  return (
    <button type="button" onClick={() => void copy().catch(() => {})}>
      {copied.value === value ? words.copied : words.copy}
    </button>
  );
}

/** A text that can be selected and copied, with its label. */
export function CopyField({ label, value, onCopied }: CopyProps & { readonly label: string }) {
  const id = useId();
  return (
    <div class="inline">
      <p class="field wide-field">
        <label for={id}>{label}</label>
        <input
          id={id}
          class="code"
          readOnly
          value={value}
          onFocus={event => event.currentTarget.select()}
          onCopy={onCopied}
        />
      </p>
      <CopyButton value={value} onCopied={onCopied} />
    </div>
  );
}
