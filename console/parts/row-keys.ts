/** Keys of a list with a sheet: j and k go to the next and the previous row, x selects it, Space shows it at the side. */
import { useEffect, useRef } from 'preact/hooks';
import { kept } from '../router.ts';

const inField = 'input:not([type="checkbox"]), select, textarea';

/** What a click in a row is for, if it is not for the row. */
const control = 'a, button, input, label, summary, [role="menu"]';
const list = 'main table[data-peek] tbody';

/** The row that has the focus has it again after Back. `onPeek` gets the place of a row. */
export function useRowKeys(onPeek: (at: number) => void): void {
  const peek = useRef(onPeek);
  peek.current = onPeek;
  useEffect(() => {
    const rows = () => [...document.querySelectorAll<HTMLElement>(`${list} tr`)];
    const linkOf = (row: Element | null | undefined) => row?.querySelector<HTMLAnchorElement>('th a');
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.ctrlKey || event.altKey || event.metaKey || !(target instanceof Element)) return;
      if (target.closest(inField) || document.querySelector('dialog[open]')) return;
      const present = target.closest<HTMLElement>(`${list} tr`);
      const step = { j: 1, k: -1 }[key];
      if (step) linkOf(rows()[present ? rows().indexOf(present) + step : 0])?.focus();
      if (key === ' ' && present && target === linkOf(present)) {
        event.preventDefault();
        peek.current(rows().indexOf(present));
      }
      if (key.toLowerCase() === 'x')
        present
          ?.querySelector('input')
          ?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: event.shiftKey }));
    };
    const click = ({ target }: MouseEvent) => {
      if (!(target instanceof Element) || target.closest(control) || getSelection()?.toString()) return;
      const row = target.closest<HTMLElement>(`${list} tr`);
      if (row) peek.current(rows().indexOf(row));
    };
    const keepFocus = ({ target }: FocusEvent) => {
      const link = target instanceof Element && linkOf(target.closest(`${list} tr`));
      if (link) kept().row = link.textContent;
    };
    const body = document.querySelector(list);
    const { row } = kept();
    const returnFocus = () => {
      const isFree = document.activeElement?.matches('body, main, h1') ?? false;
      const before = isFree
        ? rows()
            .map(linkOf)
            .find(link => link?.textContent === row)
        : null;
      before?.focus({ preventScroll: true });
      if (before || !isFree || !body?.closest('[aria-busy="true"]')) drawing.disconnect();
    };
    // Rows are drawn in steps.
    const drawing = new MutationObserver(returnFocus);
    if (row && body) {
      drawing.observe(body, { childList: true });
      returnFocus();
    }
    const end = new AbortController();
    addEventListener('keydown', press, { signal: end.signal });
    addEventListener('click', click, { signal: end.signal });
    document.addEventListener('focusin', keepFocus, { signal: end.signal });
    return () => {
      drawing.disconnect();
      end.abort();
    };
  }, []);
}
