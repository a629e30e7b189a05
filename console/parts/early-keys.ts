/** Keys that are typed while a dialog loads are for the dialog: its page does not get them, and they wait for its field. */
import { useLayoutEffect } from 'preact/hooks';

/** Frames after which a dialog that was loaded has the focus; one without it gets no keys. */
const FRAMES = 60;

const keys: string[] = [];
let loading = 0;
let frames = 0;
let listening: AbortController | undefined;

function keep(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, isTrusted } = event;
  const isKept = key.length === 1 || ['Enter', 'Escape', 'Backspace', 'Tab'].includes(key) || key.startsWith('Arrow');
  if (!isKept || !isTrusted || ctrlKey || metaKey || altKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  keys.push(key);
}

function giveTo(field: Element, key: string): void {
  if (key.length === 1) document.execCommand('insertText', false, key);
  else if (key === 'Backspace') document.execCommand('delete');
  else field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

/** Gives the keys to what has the focus in the dialog. A key that is not text waits until the text is drawn. */
function give(): void {
  const field = loading ? null : document.querySelector('dialog[open] :focus');
  if (field) {
    if (keys[0] && keys[0].length > 1) giveTo(field, keys.shift()!);
    while (keys[0]?.length === 1) giveTo(field, keys.shift()!);
  }
  const isOver = field ? keys.length === 0 : !loading && ++frames > FRAMES;
  if (isOver || !listening) forgetKeys();
  else requestAnimationFrame(() => setTimeout(give));
}

/** The page gets its keys again, as after a dialog that could not be loaded. */
export function forgetKeys(): void {
  keys.length = 0;
  listening?.abort();
  listening = undefined;
}

/** In the place of a dialog that is loading. */
export function EarlyKeys(): null {
  useLayoutEffect(() => {
    loading++;
    frames = 0;
    if (!listening) {
      listening = new AbortController();
      addEventListener('keydown', keep, { capture: true, signal: listening.signal });
      give();
    }
    return () => void loading--;
  }, []);
  return null;
}
