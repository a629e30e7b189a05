/** Copies text to the clipboard. */
import { useSignal } from '@preact/signals';
import { Check, Copy } from 'lucide';
import { useId } from 'preact/hooks';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

type CopyProps = Readonly<{ value: string; onCopied?: (() => void) | undefined }>;

/** A button that copies a text. Browsers offer a clipboard over HTTPS and at localhost; elsewhere it shows no button. */
export function CopyButton({ value, onCopied, isIcon = false }: CopyProps & { readonly isIcon?: boolean }) {
  const words = text.common;
  const copied = useSignal<string | null>(null);
  if (!window.isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    copied.value = value;
    onCopied?.();
  };
  const isCopied = copied.value === value;
  const name = isCopied ? words.copied : words.copy;
  const shown = isIcon
    ? { class: 'plain', 'aria-label': name, words: <Icon of={isCopied ? Check : Copy} /> }
    : { words: name };
  return <Button {...shown} onClick={() => void copy().catch(() => {})} />;
}

/** The beginning of a digest in a table, and a way to copy all of it. */
export const Digest = ({ value }: Pick<CopyProps, 'value'>) => (
  <>
    <code title={value}>{value.slice(0, 12)}…</code> <CopyButton value={value} isIcon />
  </>
);

/** A text that can be selected and copied, with its label. */
export function CopyField({ label, value, onCopied }: CopyProps & { readonly label: string }) {
  const id = useId();
  return (
    <div class="line">
      <p class="field">
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
