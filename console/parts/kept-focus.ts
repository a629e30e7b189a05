/** Moves the focus when the element that had it disappears with its row, its dialog or its page. */
import { keepFocusIn } from './dialog.tsx';

const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

/** Watches the page. A person who uses the keyboard continues at the same place, and a screen reader reads on there. */
export function keepFocus(root: HTMLElement): void {
  /** Element of the page that had the focus last; when its row has gone, its like in the next row. */
  let held: HTMLElement | null = null;
  let hasFocus = false;
  /** Whether the page has no title yet, and the focus is on all of it. */
  let isEarly = false;
  /** Whether the focus was in the sign-in, which has gone. */
  let hasSignedIn = false;
  document.addEventListener('focusin', ({ target }) => {
    hasFocus = true;
    isEarly = false;
    if (target instanceof HTMLElement && !target.closest('dialog, .menu, .toasts')) held = target;
  });
  // A press beside every control takes the focus away on purpose.
  const press = ({ target }: Event) => (hasFocus = target instanceof Element && target.closest(controls) !== null);
  addEventListener('pointerdown', press, true);
  const give = () => {
    const dialog = document.querySelector<HTMLElement>('dialog[open]');
    if (dialog) return keepFocusIn(dialog);
    if (held?.isConnected && !isEarly) return held.focus();
    // After the sign-in nothing of the page is marked: the person begins with its first control.
    const title = hasSignedIn ? null : root.querySelector<HTMLElement>('main h1');
    if (title) title.tabIndex = -1;
    (title ?? root.querySelector('main'))?.focus();
    isEarly = title === null && !hasSignedIn;
    hasSignedIn = false;
  };
  new MutationObserver(changes => {
    for (const change of changes)
      for (const node of change.removedNodes)
        if (held && !held.isConnected && node.contains(held)) {
          hasSignedIn = held.closest('.sign-in') !== null;
          held = likeOf(held, node, change);
        }
    if (hasFocus && (isEarly || document.activeElement === document.body)) give();
  }).observe(root, { childList: true, subtree: true });
}

/** The control of the next row, else of the previous one, that is as far from its end. */
function likeOf(held: HTMLElement, node: Node, { nextSibling, previousSibling }: MutationRecord): HTMLElement | null {
  const inRow = (row: Node | null) =>
    row instanceof Element && row.matches('tr, li') ? [...row.querySelectorAll<HTMLElement>(controls)] : [];
  const fromEnd = inRow(node).reverse().indexOf(held);
  const [like] = [nextSibling, previousSibling].flatMap(row => inRow(row).at(-1 - fromEnd) ?? []);
  return like ?? null;
}
