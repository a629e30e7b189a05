/** The keyboard of a terminal: keys, and scans of badges and barcodes. */
import { confirmMs, Keyboard, type LineInput, type TypedInput } from '../../../../enrollment/line/keyboard.ts';
import type { Io } from '../../../terminal/io.ts';

/** The keyboard of a terminal in raw mode, until `close`. */
export class TerminalKeys {
  readonly #io: Io;
  readonly #typed: (operated: LineInput) => void;
  readonly #shown: () => void;
  readonly #keyboard = new Keyboard();
  readonly #decoder = new TextDecoder();
  readonly #clock = new LiveClock();
  #lastAt = 0;

  /** `shown` is called when the program was suspended and has the terminal again. */
  constructor(io: Io, typed: (operated: LineInput) => void, shown: () => void) {
    this.#io = io;
    this.#typed = typed;
    this.#shown = shown;
  }

  /** Whether the first characters of a scan or of a key have come, and it is not known yet which. */
  get isTyping(): boolean {
    return this.#keyboard.waitMs !== null;
  }

  open(): void {
    this.#io.stdin.setRawMode?.(true);
    this.#io.stdin.on('data', this.#take).resume();
    process.on('SIGCONT', this.#continued);
  }

  close(): void {
    this.#clock.stop();
    process.off('SIGCONT', this.#continued);
    this.#io.stdin.off('data', this.#take).pause();
    this.#io.stdin.setRawMode?.(false);
  }

  readonly #take = (chunk: Buffer | string): void => {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    this.#lastAt = this.#clock.now();
    // Only time distinguishes a key from the first character of a scan.
    this.#clock.start(this.#tick);
    this.#pass(this.#keyboard.take(text, this.#lastAt));
  };

  readonly #tick = (): void => {
    const quietMs = this.#clock.now() - this.#lastAt;
    const { waitMs } = this.#keyboard;
    if (waitMs !== null && quietMs >= waitMs) this.#pass(this.#keyboard.flush());
    else if (quietMs >= confirmMs) this.#clock.stop();
  };

  #pass(all: readonly TypedInput[]): void {
    for (const typed of all) {
      if (typed.type === 'interrupt') process.kill(process.pid, 'SIGINT');
      else if (typed.type === 'suspend') this.#suspend();
      else this.#typed(typed);
    }
  }

  /** Stops the whole foreground group, as the terminal does at Ctrl-Z outside raw mode. */
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

/** Milliseconds between two looks at the clock. */
const tickMs = 10;
/** The most that counts between two looks: what is longer is a time in which the program could not see what was typed. */
const mostMs = 2 * tickMs;

/**
 * A steady clock that stands still while the program does: characters that came in the meantime are read together with what comes after
 * them, so a time in which nothing could be read is not a pause of the person or the scanner.
 */
class LiveClock {
  #ms = 0;
  #seenAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Milliseconds. Between `start` and `stop`, only time in which the program ran. */
  now(): number {
    const now = performance.now();
    const passed = now - this.#seenAt;
    this.#seenAt = now;
    this.#ms += this.#timer === undefined ? passed : Math.min(passed, mostMs);
    return this.#ms;
  }

  /** Calls `tick` until `stop`. Between two calls the program has read what was there to read. */
  start(tick: () => void): void {
    this.#timer ??= setInterval(tick, tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
