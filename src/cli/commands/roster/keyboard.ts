/** What an operator types, and what a scanner of badges or barcodes sends: both come as characters of one terminal. */
import type { Io } from '../../terminal/io.ts';
import type { Command } from './line-events.ts';

/** A command that was typed, or a badge that was scanned. */
export type Operated = { readonly type: Command } | { readonly type: 'badge'; readonly text: string };

/** What was typed or scanned. */
export type Typed = Operated | { readonly type: 'interrupt' } | { readonly type: 'suspend' };

/** Milliseconds. Characters that follow each other faster come from a scanner. */
export const scanGapMs = 35;
/** Characters of a scan that are read: longer ones name no person. */
const longestScan = 256;

const commands: Readonly<Record<string, Command>> = { '\x1b': 'undo', s: 'skip', S: 'skip', r: 'redo', R: 'redo' };
/** Keys such as the arrows send several characters. */
const sequences = /\x1b[[O][0-9;?]*[A-Za-z~]/g;
const controls = /[\x00-\x1f\x7f]/g;

/** Distinguishes keys from scans by the time between characters. `at` is in milliseconds of any steady clock. */
export class Keyboard {
  /** Characters of a scan, or one that may be its first. */
  #text = '';
  #lastAt = Number.NEGATIVE_INFINITY;
  #last = '';

  /** Whether `flush` is due when no character has followed for `scanGapMs`. */
  get isWaiting(): boolean {
    return this.#text !== '';
  }

  /** What is complete with these characters. */
  take(characters: string, at: number): readonly Typed[] {
    return [...characters.replace(sequences, '')].flatMap(character => this.#character(character, at));
  }

  /** No character has followed: one character is a key, several without Enter are an incomplete scan and ignored. */
  flush(): readonly Typed[] {
    const command = commands[this.#text];
    this.#text = '';
    return command === undefined ? [] : [{ type: command }];
  }

  #character(character: string, at: number): readonly Typed[] {
    const isLate = at - this.#lastAt >= scanGapMs;
    const before = isLate ? this.flush() : [];
    // Some scanners send CR and LF.
    const isSecondEnd = character === '\n' && this.#last === '\r' && !isLate;
    this.#lastAt = at;
    this.#last = character;
    return isSecondEnd ? [] : [...before, ...this.#typed(character)];
  }

  #typed(character: string): readonly Typed[] {
    switch (character) {
      case '\x03':
        return [{ type: 'interrupt' }];
      case '\x1a':
        return [{ type: 'suspend' }];
      case '\r':
      case '\n':
        return [this.#entered()];
      default:
        if (this.#text.length < longestScan) this.#text += character;
        return [];
    }
  }

  #entered(): Typed {
    const text = this.#text.replace(controls, '').trim();
    this.#text = '';
    return text === '' ? { type: 'enter' } : { type: 'badge', text };
  }
}

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
