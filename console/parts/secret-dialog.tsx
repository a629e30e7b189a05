/** A secret that is shown once. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { secretOnce as words } from '../text/words.ts';
import { Button } from './button.tsx';
import { CopyField } from './copy.tsx';
import { CloseButton, Dialog } from './dialog.tsx';

interface SecretDialogProps {
  readonly title: string;
  /** That it is not shown again. */
  readonly once: string;
  readonly label: string;
  readonly value: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** Shows a secret until the dialog closes, and asks before it closes if the secret was not copied. */
export function SecretDialog({ title, once, label, value, onClose, children }: SecretDialogProps) {
  const isCopied = useSignal(false);
  const isAsking = useSignal(false);
  const close = () => {
    if (isCopied.value) onClose();
    else isAsking.value = !isAsking.value;
  };
  return (
    <Dialog title={title} onClose={close}>
      <p>
        <strong>{once}</strong>
      </p>
      <CopyField label={label} value={value} onCopied={() => (isCopied.value = true)} />
      {children}
      {isAsking.value ? (
        <>
          <p role="alert">{words.askClose}</p>
          <p class="actions">
            <Button isFocused words={words.keepOpen} onClick={close} />
            <Button words={words.closeUncopied} class="danger" onClick={onClose} />
          </p>
        </>
      ) : (
        <CloseButton onClose={close} />
      )}
    </Dialog>
  );
}
