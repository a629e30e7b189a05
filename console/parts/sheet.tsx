/** A record at the side of its list, which stays in use. On phones it covers the page. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';

/** Properties of a sheet. */
export interface SheetProps {
  readonly title: ComponentChildren;
  /** Shows the next record of the list, or the previous one. */
  readonly onStep: (by: 1 | -1) => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

const steps: Readonly<Partial<Record<string, 1 | -1>>> = { ArrowDown: 1, ArrowUp: -1 };

/** It takes the focus. The arrow keys show the other records, and Esc closes it, wherever the focus is. */
export function Sheet({ title, onStep, onClose, children }: SheetProps) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      // A dialog, a menu and a field have these keys for themselves.
      if (document.querySelector('dialog[open], .menu') || !(target instanceof Element)) return;
      if (target.closest('input:not([type="checkbox"]), select, textarea')) return;
      const by = steps[key];
      if (!by && key !== 'Escape') return;
      event.preventDefault();
      if (!by) return onClose();
      // What has the focus in the sheet goes with its record.
      if (target.closest('.sheet')) heading.current?.focus();
      onStep(by);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  return (
    <aside class="sheet" aria-labelledby={id}>
      <div class="bar">
        <h2 ref={heading} id={id} tabIndex={-1} aria-live="polite">
          {title}
        </h2>
        <Button words={text.common.close} onClick={onClose} />
      </div>
      {children}
    </aside>
  );
}
