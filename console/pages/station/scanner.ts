/** A scanner of badges or barcodes acts as a keyboard. It is recognized by its speed, wherever the focus is. */
import {
  type Badge,
  type Enter,
  Keyboard,
  scanGapInPageMs,
  type TypedInput,
} from '../../../src/enrollment/line/keyboard.ts';

/** An input of the operator: a badge was scanned, or a key was pressed that no control of the page takes. */
type Input = Badge | Enter | { readonly type: 'undo' | 'cut' | 'early' };

/** The keyboard of the page. */
interface Listener {
  /** Whether the first characters of a scan have come. */
  isTyping(): boolean;
  stop(): void;
}

/** A field as it was before the first character of a scan. */
interface Before {
  readonly field: HTMLInputElement | HTMLTextAreaElement;
  readonly value: string;
  readonly selection: readonly [number | null, number | null];
}

/** Reads the keyboard of the page until `stop`. */
export function listen(operated: (what: Input) => void): Listener {
  const scanner = new Scanner(operated);
  const take = (event: KeyboardEvent) => scanner.take(event);
  // Before the controls of the page: Enter at the end of a scan must not press one.
  addEventListener('keydown', take, true);
  return {
    isTyping: () => scanner.isTyping,
    stop: () => {
      scanner.stop();
      removeEventListener('keydown', take, true);
    },
  };
}

class Scanner {
  readonly #operated: (what: Input) => void;
  readonly #keyboard = new Keyboard(scanGapInPageMs);
  #lastAt = Number.NEGATIVE_INFINITY;
  /** Where the last character went. */
  #target: EventTarget | null = null;
  #before: Before | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(operated: (what: Input) => void) {
    this.#operated = operated;
  }

  get isTyping(): boolean {
    return this.#keyboard.waitMs !== null && !isField(this.#target);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  take(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    if (event.key === 'Escape') {
      clearTimeout(this.#timer);
      this.#keyboard.reset();
      this.#operated({ type: 'undo' });
      return;
    }
    const character = event.key === 'Enter' ? '\r' : event.key;
    if (character.length !== 1) return;
    const isFast = Math.abs(event.timeStamp - this.#lastAt) < scanGapInPageMs;
    if (!isFast) this.#begin(event.target);
    // Enter that a field gets first is of a person: a scan does not go to a field in its middle.
    else if (character === '\r' && event.target !== this.#target && isField(event.target)) this.#leave();
    this.#lastAt = event.timeStamp;
    this.#target = event.target;
    // A scan presses no button.
    const isOfScan = isFast || this.#keyboard.isCut;
    if (isOfScan && character !== '\r' && !isField(event.target)) event.preventDefault();
    this.#type(character, event);
  }

  /** The first character of a scan, or a key. */
  #begin(target: EventTarget | null): void {
    this.#before = fieldOf(target);
    if (target === this.#target) return;
    // A scan does not begin in a field that the person has left.
    if (isField(this.#target)) this.#keyboard.reset();
    this.#target = target;
  }

  #leave(): void {
    this.#flush();
    this.#keyboard.reset();
  }

  #type(character: string, event: KeyboardEvent): void {
    clearTimeout(this.#timer);
    const all = this.#keyboard.take(character, event.timeStamp);
    // Enter that confirms nothing presses no button either.
    const isEnter = all.some(({ type }) => type === 'enter');
    if (character === '\r' && !isEnter && !isField(event.target)) event.preventDefault();
    const isBadge = all.some(({ type }) => type === 'badge');
    // A text that is typed into a field ends there.
    if (character === '\r' && !isBadge && isField(event.target)) this.#keyboard.reset();
    for (const typed of all) {
      if (typed.type === 'badge' && this.#before) restore(this.#before);
      if (typed.type === 'badge') event.preventDefault();
      // A scan is neither a password nor a PIN, and what may be one is not shown.
      if (typed.type === 'badge' && isSecret(event.target)) {
        restore({ field: event.target, value: '', selection: [0, 0] });
        continue;
      }
      if (typed.type === 'enter' && !isControl(event.target)) event.preventDefault();
      this.#pass(typed);
    }
    const { waitMs } = this.#keyboard;
    if (waitMs !== null) this.#timer = setTimeout(() => this.#flush(), waitMs + laterMs);
  }

  #flush(): void {
    for (const typed of this.#keyboard.flush()) this.#pass(typed);
  }

  /** A field takes what is typed into it, and a control takes Enter. A page has buttons for skip and redo. */
  #pass(typed: TypedInput): void {
    const { type } = typed;
    if (type === 'badge') this.#operated(typed);
    if ((type === 'cut' || type === 'early') && !isField(this.#target)) this.#operated({ type });
    if (type === 'enter' && !isControl(this.#target)) this.#operated(typed);
  }
}

/** Milliseconds. A page that was busy gets the characters that came in the meantime before the timer counts. */
const laterMs = 50;

const isField = (target: EventTarget | null): target is Before['field'] =>
  target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.selectionStart !== null);

const isSecret = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.type === 'password';

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
