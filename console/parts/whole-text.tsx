/** The whole text of a cell that is too narrow for it: under the pointer, and for the keyboard. */
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';

/** What can have the focus in a cell: then the cell itself needs none. */
const control = 'a, button, input, summary';

/** The text that a cell shows a part of; null if it shows all of it. */
function wholeTextOf(cell: HTMLElement): string | null {
  const given = cell.querySelector<HTMLElement>('[data-whole]')?.dataset.whole;
  return given ?? (cell.scrollWidth > cell.clientWidth ? cell.textContent : null);
}

/** Lets the keyboard reach the cells of a table that show a part of their text. */
function useReachableCells(table: RefObject<HTMLTableElement | null>): void {
  useLayoutEffect(() => {
    if (!table.current) return;
    const observer = new ResizeObserver(([entry]) => {
      const cells = [...(entry?.target.querySelectorAll<HTMLElement>('tbody tr > *') ?? [])];
      const isPart = cells.map(cell => wholeTextOf(cell) !== null && !cell.querySelector(control));
      for (const [i, cell] of cells.entries())
        if (isPart[i]) cell.tabIndex = 0;
        else cell.removeAttribute('tabindex');
    });
    observer.observe(table.current);
    return () => observer.disconnect();
  });
}

/** Shows the whole text of a cell of the table, below the cell. Esc closes it. */
export function WholeText({ of: table }: { readonly of: RefObject<HTMLTableElement | null> }) {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  useReachableCells(table);
  useEffect(() => {
    const popover = ref.current;
    if (!popover || !table.current) return;
    let shown: HTMLElement | null = null;
    const hasFocus = () => shown !== null && shown === document.activeElement;
    const hide = () => {
      shown?.removeAttribute('aria-describedby');
      shown = null;
      popover.hidePopover();
    };
    const show = (event: Event) => {
      const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('tbody tr > *') : null;
      // What scrolls past the pointer does not replace the cell that has the focus.
      if (cell === shown || (event.type === 'pointerover' && hasFocus())) return;
      hide();
      const text = cell && wholeTextOf(cell);
      if (!text) return;
      shown = cell;
      popover.textContent = text;
      cell.setAttribute('aria-describedby', id);
      popover.showPopover();
      put();
    };
    const put = () => {
      if (!shown) return;
      const { left, top, bottom } = shown.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = popover;
      popover.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
      popover.style.top = `${bottom + height > innerHeight ? Math.max(0, top - height) : bottom}px`;
    };
    const leave = (event: PointerEvent | FocusEvent) => {
      const to = event.relatedTarget instanceof Node ? event.relatedTarget : null;
      if (event.type !== 'focusout' && hasFocus()) return;
      if (!shown?.contains(to) && !popover.contains(to)) hide();
    };
    const end = new AbortController();
    const { signal } = end;
    for (const type of ['pointerover', 'focusin'] as const) table.current.addEventListener(type, show, { signal });
    for (const type of ['pointerout', 'focusout'] as const) table.current.addEventListener(type, leave, { signal });
    popover.addEventListener('pointerleave', leave, { signal });
    // The focus scrolls its cell into view.
    addEventListener('scroll', put, { signal, capture: true });
    addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { signal });
    return () => end.abort();
  }, []);
  return <div ref={ref} id={id} popover="manual" role="tooltip" class="whole-text" />;
}
