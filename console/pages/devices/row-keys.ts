/** The keyboard of the list: j and k go to the next and the previous device, x selects it, Space shows it at the side, Enter opens it. */
import { useEffect, useRef } from 'preact/hooks';
import { kept } from '../../router.ts';

const inField = 'input:not([type="checkbox"]), select, textarea';

/** The device that has the focus has it again after Back. */
export function useRowKeys(onPeek: (deviceId: string) => void): void {
  const peek = useRef(onPeek);
  peek.current = onPeek;
  useEffect(() => {
    const rows = () => [...document.querySelectorAll<HTMLElement>('main tbody tr')];
    const linkOf = (row: Element | null | undefined) => row?.querySelector<HTMLAnchorElement>('th a');
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.ctrlKey || event.altKey || event.metaKey || !(target instanceof Element)) return;
      if (target.closest(inField) || document.querySelector('dialog[open]')) return;
      const present = target.closest<HTMLElement>('main tbody tr');
      const step = { j: 1, k: -1 }[key];
      if (step) linkOf(rows()[present ? rows().indexOf(present) + step : 0])?.focus();
      const link = key === ' ' && target === linkOf(present) && target.textContent;
      if (link) {
        event.preventDefault();
        peek.current(link);
      }
      if (key.toLowerCase() === 'x')
        present
          ?.querySelector('input')
          ?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: event.shiftKey }));
    };
    const keepFocus = ({ target }: FocusEvent) => {
      const link = target instanceof Element && linkOf(target.closest('main tbody tr'));
      if (link) kept().row = link.textContent;
    };
    const body = document.querySelector('main tbody');
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
    document.addEventListener('focusin', keepFocus, { signal: end.signal });
    return () => {
      drawing.disconnect();
      end.abort();
    };
  }, []);
}
