/** The whole text of what shows a part of it, as a cell that is too narrow: at the pointer, and at the focus. */
import type { RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { moment } from '../text/numbers.ts';

/** Elements that can have the focus in a cell: then the cell itself needs none. */
const control = 'a, button, input, summary, time';

/** A time that is shown by its distance from now. */
const distant = 'time[tabindex]';

/** Elements that may show a part of their text. */
const partial = `.one-line tbody tr > :not(.row-actions), ${distant}`;

/** Milliseconds after which a table that has another size is looked through. */
const MARK_MS = 50;

/** The text that an element shows a part of, or stands for; null if it shows all of it. */
function wholeTextOf(element: HTMLElement): string | null {
  const time = element.closest<HTMLTimeElement>(distant) ?? element.querySelector<HTMLTimeElement>(distant);
  if (time) return moment(time.dateTime);
  const given = element.dataset.whole ?? element.querySelector<HTMLElement>('[data-whole]')?.dataset.whole;
  return given ?? (element.scrollWidth > element.clientWidth ? element.textContent : null);
}

/** Lets the keyboard reach the cells of a table that show a part of their text. */
export function useReachableCells(table: RefObject<HTMLTableElement | null>): void {
  useLayoutEffect(() => {
    const { current } = table;
    if (!current?.classList.contains('one-line')) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const mark = () => {
      // A card out of sight has no layout, and is looked through when it is near.
      const cells = [...current.querySelectorAll<HTMLElement>('tbody tr > *')].filter(cell =>
        cell.checkVisibility({ contentVisibilityAuto: true }),
      );
      const isPart = cells.map(cell => !cell.querySelector(control) && wholeTextOf(cell) !== null);
      for (const [i, cell] of cells.entries())
        if (isPart[i]) cell.tabIndex = 0;
        else cell.removeAttribute('tabindex');
    };
    // After the drawing, and once if rows follow each other.
    const markLater = () => {
      clearTimeout(timer);
      timer = setTimeout(mark, MARK_MS);
    };
    const observer = new ResizeObserver(markLater);
    observer.observe(current);
    current.addEventListener('contentvisibilityautostatechange', markLater, true);
    return () => {
      current.removeEventListener('contentvisibilityautostatechange', markLater, true);
      clearTimeout(timer);
      observer.disconnect();
    };
  });
}

/** Shows the whole text of a cell or a time, below it. Esc closes it. There is one for all pages. */
export function WholeText() {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const popover = ref.current;
    if (!popover) return;
    let shown: HTMLElement | null = null;
    const hasFocus = () => shown !== null && shown === document.activeElement;
    const hide = () => {
      shown?.removeAttribute('aria-describedby');
      shown = null;
      popover.hidePopover();
    };
    const show = (event: Event) => {
      const { target } = event;
      const part = target instanceof Element ? target.closest<HTMLElement>(partial) : null;
      // An element that scrolls past the pointer does not take the focus.
      if (part === shown || target === popover || (event.type === 'pointerover' && hasFocus())) return;
      hide();
      const text = part && wholeTextOf(part);
      if (!text) return;
      shown = part;
      popover.textContent = text;
      part.setAttribute('aria-describedby', id);
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
    for (const type of ['pointerover', 'focusin'] as const) document.addEventListener(type, show, { signal });
    for (const type of ['pointerout', 'focusout'] as const) document.addEventListener(type, leave, { signal });
    // The focus scrolls its cell into view.
    addEventListener('scroll', put, { signal, capture: true });
    addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { signal });
    return () => end.abort();
  }, []);
  return <div ref={ref} id={id} popover="manual" role="tooltip" class="whole-text" />;
}
