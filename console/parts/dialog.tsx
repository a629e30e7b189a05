/** A question in front of the page. The browser keeps the focus inside. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';

interface ModalProps {
  readonly title: string;
  /** Called at Esc; the caller then removes the dialog. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog, open while it is rendered. */
export function Dialog({ title, onClose, children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    keepFocusIn(ref.current);
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        // At a second Esc in a row the browser would close it whatever `onCancel` does.
        event.preventDefault();
        onClose();
      }}
      onCancel={event => {
        // That of a file chooser bubbles: a person who has chosen no file has not left the dialog.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Gives the focus to the first field of a part of a dialog, else to the title of the dialog, if nothing in the dialog has it. */
export function keepFocusIn(part: HTMLElement | null | undefined): void {
  const dialog = part?.closest('dialog');
  const { activeElement } = document;
  if (!part || !dialog || (activeElement !== dialog && dialog.contains(activeElement))) return;
  const first = part.querySelector<HTMLElement>('input:not(:disabled), select:not(:disabled), textarea:not(:disabled)');
  const title = dialog.querySelector('h2');
  // Only now: the browser gives the first focus to the first element that can have it.
  if (!first && title) title.tabIndex = -1;
  (first ?? title)?.focus();
}

/** The end of a dialog that asks nothing. */
export const CloseButton = ({ onClose }: Pick<ModalProps, 'onClose'>) => (
  <p class="actions">
    <Button words={text.common.close} onClick={onClose} />
  </p>
);
