/** Which presses of a button are meant for it: those that begin and end on it while it is armed. */

/** The events of presses. They are seen before any other listener of the page sees them. */
const types = ['keydown', 'keyup', 'pointerdown', 'pointerup', 'pointercancel', 'click'] as const;

/** Lets only clicks through to a button that were meant for it; for a submit button also the Enter of a field of its form. */
export class Presses implements EventListenerObject {
  readonly #button: HTMLButtonElement;
  #isArmed = false;
  /** Keys that are down, and whether they count: a key counts if it was pressed while the button was armed. */
  readonly #keys = new Map<string, boolean>();
  /** The pointer that was pressed on the armed button, and whether it was released there. */
  #pointer: { readonly id: number; readonly isReleased: boolean } | null = null;

  constructor(button: HTMLButtonElement) {
    this.#button = button;
  }

  /** Judges presses from now on. Returns a function that ends this. */
  watch(): () => void {
    const end = new AbortController();
    for (const type of types) document.addEventListener(type, this, { capture: true, signal: end.signal });
    return () => end.abort();
  }

  /** Arms the button, or disarms it: what is pressed at that moment does not count. */
  arm(isArmed: boolean): void {
    this.#isArmed = isArmed;
    this.#pointer = null;
    // The release of a key may be seen by another window only. One that is still down repeats, and does not count then.
    if (!isArmed) this.#keys.clear();
  }

  handleEvent(event: Event): void {
    if (event.type === 'click') this.#click(event as MouseEvent);
    else if (!event.isTrusted) return;
    else if (event instanceof KeyboardEvent) this.#key(event);
    else this.#point(event as PointerEvent);
  }

  #key(event: KeyboardEvent): void {
    const { type, code, repeat } = event;
    if (type === 'keydown' && !this.#keys.has(code)) this.#keys.set(code, this.#isArmed && !repeat);
    else if (type === 'keydown') this.#keys.set(code, false);
    const counts = this.#keys.get(code) === true;
    if (type === 'keyup') this.#keys.delete(code);
    // A browser makes a click of Enter when it is pressed, and of the space bar when it is released.
    if (!counts && this.#isPress(event)) event.preventDefault();
  }

  #point(event: PointerEvent): void {
    const { type, pointerId, button, isPrimary } = event;
    const isHere = this.#isOn(event);
    if (type === 'pointerdown')
      this.#pointer =
        this.#isArmed && isHere && isPrimary && button === 0 ? { id: pointerId, isReleased: false } : null;
    else if (this.#pointer?.id === pointerId)
      this.#pointer = type === 'pointerup' && isHere ? { id: pointerId, isReleased: true } : null;
  }

  #click(event: MouseEvent): void {
    if (!this.#isOn(event)) return;
    // Without a count it comes from a key, which was judged before, or from a screen reader, which names the button itself.
    const isWhole = event.detail === 0 || this.#pointer?.isReleased === true;
    this.#pointer = null;
    if (event.isTrusted && this.#isArmed && isWhole) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #isOn({ target }: Event): boolean {
    return target instanceof Node && this.#button.contains(target);
  }

  #isPress(event: KeyboardEvent): boolean {
    const { target, key } = event;
    if (this.#isOn(event)) return key === 'Enter' || key === ' ';
    const isSubmit = this.#button.type === 'submit' && target instanceof HTMLInputElement;
    return isSubmit && key === 'Enter' && target.form === this.#button.form;
  }
}
