/** Buttons whose words are data. */
import { useSignal } from '@preact/signals';
import { type ButtonHTMLAttributes, type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly words: ComponentChildren;
  /** Takes the focus when it appears, because the element that had it has disappeared. */
  readonly isFocused?: boolean;
};

/** A button. Only one of the type `submit` sends its form. */
export function Button({ words, isFocused = false, ...rest }: ButtonProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isFocused) ref.current?.focus();
  }, []);
  return (
    <button type="button" ref={ref} {...rest}>
      {words}
    </button>
  );
}

interface DialogButtonProps {
  readonly words: string;
  readonly class?: string;
  readonly dialog: (onClose: () => void) => ComponentChildren;
}

/** A button that opens a dialog: another one for each click, so that a dialog that could not be loaded is loaded again. */
export function DialogButton({ words, dialog, ...rest }: DialogButtonProps) {
  const opened = useSignal<object | null>(null);
  return (
    <>
      <Button words={`${words} …`} onClick={() => (opened.value = {})} {...rest} />
      {opened.value && <Fragment key={opened.value}>{dialog(() => (opened.value = null))}</Fragment>}
    </>
  );
}
