/** The keyboard of a terminal: keys, and scans of badges and barcodes. */
import { Keyboard, type Operated, scanGapMs, type Typed } from '../../../contract/line/keyboard.ts';
import type { Io } from '../../terminal/io.ts';

/** The keyboard of a terminal in raw mode, until `close`. */
export class TerminalKeys {
  readonly #io: Io;
  readonly #typed: (operated: Operated) => void;
  readonly #shown: () => void;
  readonly #keyboard = new Keyboard();
  readonly #decoder = new TextDecoder();
  #timer: NodeJS.Timeout | undefined;

  /** `shown` is called when the program was suspended and has the terminal again. */
  constructor(io: Io, typed: (operated: Operated) => void, shown: () => void) {
    this.#io = io;
    this.#typed = typed;
    this.#shown = shown;
  }

  open(): void {
    this.#io.stdin.setRawMode?.(true);
    this.#io.stdin.on('data', this.#take).resume();
    process.on('SIGCONT', this.#continued);
  }

  close(): void {
    clearTimeout(this.#timer);
    process.off('SIGCONT', this.#continued);
    this.#io.stdin.off('data', this.#take).pause();
    this.#io.stdin.setRawMode?.(false);
  }

  readonly #take = (chunk: Buffer | string): void => {
    clearTimeout(this.#timer);
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    this.#pass(this.#keyboard.take(text, performance.now()));
    // Only time distinguishes a key from the first character of a scan.
    if (this.#keyboard.isWaiting) this.#timer = setTimeout(() => this.#pass(this.#keyboard.flush()), scanGapMs);
  };

  #pass(all: readonly Typed[]): void {
    for (const typed of all) {
      if (typed.type === 'interrupt') process.kill(process.pid, 'SIGINT');
      else if (typed.type === 'suspend') this.#suspend();
      else this.#typed(typed);
    }
  }

  /** What the terminal does at Ctrl-Z outside raw mode: the whole foreground group stops. */
  #suspend(): void {
    if (process.platform === 'win32') return;
    this.#io.stdin.setRawMode?.(false);
    process.kill(0, 'SIGTSTP');
    // The system discards the signal if no shell could continue this group.
    this.#takeTerminal();
  }

  /** Another signal may have stopped the program. */
  readonly #continued = (): void => {
    this.#takeTerminal();
    this.#shown();
  };

  /** The shell has restored its own modes; Node does not set a mode that it believes to be set. */
  #takeTerminal(): void {
    this.#io.stdin.setRawMode?.(false);
    this.#io.stdin.setRawMode?.(true);
  }
}
