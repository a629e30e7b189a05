/** A question in front of the page. The browser keeps the focus inside and closes it at Esc. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';

interface ModalProps {
  readonly title: string;
  /** Called at Esc; the caller then removes the dialog. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog; it is open as long as it is there. */
export function Dialog({ title, onClose, children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** The end of a dialog that asks nothing. */
export const CloseButton = ({ onClose }: Pick<ModalProps, 'onClose'>) => (
  <p class="actions">
    <button type="button" onClick={onClose}>
      {text.value.common.close}
    </button>
  </p>
);

interface FocusedButtonProps {
  readonly disabled?: boolean;
  readonly onClick: () => void;
  readonly children: string;
}

/** A button that takes the focus when it appears: the one that had it has gone. */
export function FocusedButton({ children, ...rest }: FocusedButtonProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <button type="button" ref={ref} {...rest}>
      {children}
    </button>
  );
}
