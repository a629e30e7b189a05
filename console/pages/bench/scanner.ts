/** A scanner of badges or barcodes acts as a keyboard. It is recognized by its speed, wherever the focus is. */
import { Keyboard, scanGapMs } from '../../../src/contract/line/keyboard.ts';

/** What the operator wants: a badge was scanned, or a key was pressed that no control of the page takes. */
export type Operated = { readonly type: 'badge'; readonly text: string } | { readonly type: 'enter' | 'undo' };

/** A field as it was before the first character of a scan. */
interface Before {
  readonly field: HTMLInputElement | HTMLTextAreaElement;
  readonly value: string;
  readonly selection: readonly [number | null, number | null];
}

/** Reads the keyboard of the page until the function that it returns is called. */
export function listen(operated: (what: Operated) => void): () => void {
  const scanner = new Scanner(operated);
  const take = (event: KeyboardEvent) => scanner.take(event);
  // Before the controls of the page: Enter at the end of a scan must not press one.
  addEventListener('keydown', take, true);
  return () => removeEventListener('keydown', take, true);
}

class Scanner {
  readonly #operated: (what: Operated) => void;
  readonly #keyboard = new Keyboard();
  #lastAt = Number.NEGATIVE_INFINITY;
  #last = '';
  #before: Before | null = null;

  constructor(operated: (what: Operated) => void) {
    this.#operated = operated;
  }

  take(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    if (event.key === 'Escape') {
      this.#operated({ type: 'undo' });
      return;
    }
    const character = event.key === 'Enter' ? '\r' : event.key;
    if (character.length !== 1) return;
    const isFast = event.timeStamp - this.#lastAt < scanGapMs;
    if (!isFast) this.#before = fieldOf(event.target);
    const isSecondEnd = isFast && character === '\r' && this.#last === '\r';
    this.#lastAt = event.timeStamp;
    this.#last = character;
    // A scan presses no button, and some scanners send Enter twice.
    if (isSecondEnd || (isFast && character !== '\r' && !isField(event.target))) event.preventDefault();
    if (!isSecondEnd) this.#type(character, event);
  }

  #type(character: string, event: KeyboardEvent): void {
    for (const typed of this.#keyboard.take(character, event.timeStamp)) {
      if (typed.type === 'badge') {
        event.preventDefault();
        if (this.#before) restore(this.#before);
        this.#operated(typed);
      }
      if (typed.type === 'enter' && !isControl(event.target)) {
        event.preventDefault();
        this.#operated({ type: 'enter' });
      }
    }
  }
}

const isField = (target: EventTarget | null): target is Before['field'] =>
  target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.selectionStart !== null);

const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, input, select, textarea, summary, dialog') !== null;

const fieldOf = (target: EventTarget | null): Before | null =>
  isField(target)
    ? { field: target, value: target.value, selection: [target.selectionStart, target.selectionEnd] }
    : null;

/** Removes what a scan has typed. */
function restore({ field, value, selection }: Before): void {
  field.value = value;
  field.setSelectionRange(...selection);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
