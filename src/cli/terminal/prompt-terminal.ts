/**
 * The terminal as one prompt of Inquirer sees it. Inquirer leaves two keys to Node's readline, which handles them so that
 * a program ends without a word: Ctrl-Z (after `fg`, readline pauses its input and nothing is left to wait for) and Ctrl-D
 * (readline closes, and the promise of the prompt never settles). Both are handled here.
 */
import { Readable, Writable } from 'node:stream';
import type { Io } from './io.ts';
import { hasUtf8, inAscii } from './style.ts';
import { width } from './width.ts';

const ctrlZ = 0x1a;
const lineEnd = /[\r\n]/;
/** Sequence that Inquirer writes before a frame: to the last line of the previous one, and up again while erasing. */
const erasing = /^(?:\x1b\[\d+B)?(?:\x1b\[2K\x1b\[1A)*\x1b\[2K\x1b\[G/;
/** The end of a frame: the cursor goes up from the last line and to its column, counted from 1. */
const placing = /(?:\x1b\[(\d+)A)?\x1b\[(\d+)G$/;
const clearBelow = '\r\x1b[J';
const showCursor = '\x1b[?25h';

/** One prompt at a time. `close` when it is answered. */
export class PromptTerminal {
  readonly input: Keys;
  readonly output: Frames;
  readonly #io: Io;
  readonly #ended = new AbortController();
  #stoppedHere = false;

  constructor(io: Io) {
    this.#io = io;
    this.input = new Keys(io.stdin, () => this.#suspend(), this.#end);
    this.output = new Frames(io.stderr);
    process.on('SIGCONT', this.#continued);
    io.stderr.on('resize', this.output.redraw);
  }

  /** Aborts when the input ends before the prompt is answered: Ctrl-D at an empty line, or the terminal is gone. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  close(): void {
    process.off('SIGCONT', this.#continued);
    this.#io.stderr.off('resize', this.output.redraw);
    this.input.detach();
  }

  /** Readline closes at the end of input, but also after an answer: that has settled the prompt before the next turn. */
  readonly #end = (): void => {
    setImmediate(() => this.#ended.abort());
  };

  /** Behavior of the terminal driver at Ctrl-Z outside raw mode: the whole foreground group stops. */
  #suspend(): void {
    this.output.leave();
    this.#io.stdin.setRawMode?.(false);
    this.#stoppedHere = true;
    // The signal is delivered before kill returns: the next line runs after `fg`, or at once if the system discards the
    // signal because no shell could continue this group.
    process.kill(0, 'SIGTSTP');
    this.#takeTerminal();
    this.output.draw();
  }

  /** Another signal may have stopped the program, or the shell has restored the modes of the terminal. */
  readonly #continued = (): void => {
    this.#takeTerminal();
    if (!this.#stoppedHere) this.output.draw();
    this.#stoppedHere = false;
  };

  /** Node does not set a mode that it believes to be set. */
  #takeTerminal(): void {
    this.#io.stdin.setRawMode?.(false);
    this.#io.stdin.setRawMode?.(true);
  }
}

/** Standard input without Ctrl-Z. Of a paste of several lines only the first is an answer; the others answer no question. */
class Keys extends Readable {
  /** Makes Inquirer discard what was typed before the question was visible. */
  readonly isTTY = true;
  readonly #stdin: Io['stdin'];
  readonly #suspend: () => void;
  readonly #released: () => void;

  constructor(stdin: Io['stdin'], suspend: () => void, released: () => void) {
    super();
    this.#stdin = stdin;
    this.#suspend = suspend;
    this.#released = released;
    stdin.on('data', this.#take).on('end', this.#finish).on('error', this.#finish);
    stdin.resume();
  }

  override _read(): void {
    // Pushed as it is typed.
  }

  setRawMode(on: boolean): this {
    this.#stdin.setRawMode?.(on);
    if (!on) this.#released();
    return this;
  }

  detach(): void {
    this.#stdin.off('data', this.#take).off('end', this.#finish).off('error', this.#finish);
    this.#stdin.pause();
  }

  readonly #take = (chunk: Buffer | string): void => {
    const bytes = Buffer.from(chunk);
    const end = bytes.findIndex(byte => lineEnd.test(String.fromCharCode(byte)));
    let rest = end < 0 ? bytes : bytes.subarray(0, end + 1);
    for (let at = rest.indexOf(ctrlZ); at >= 0 && process.platform !== 'win32'; at = rest.indexOf(ctrlZ)) {
      this.#pass(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      this.#suspend();
    }
    this.#pass(rest);
  };

  #pass(bytes: Buffer): void {
    if (bytes.length > 0) this.push(bytes);
  }

  readonly #finish = (): void => {
    this.push(null);
  };
}

/** Standard error with the memory of the last frame, so that it can be drawn again. */
class Frames extends Writable {
  readonly #stderr: NodeJS.WritableStream & { readonly columns?: number };
  #frame = '';
  /** Where the cursor is, counted from 1. */
  #column = 1;

  constructor(stderr: NodeJS.WritableStream) {
    super({ decodeStrings: false });
    this.#stderr = stderr;
  }

  /** Inquirer breaks lines at this width. */
  get columns(): number {
    return this.#stderr.columns || 80;
  }

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    const text = hasUtf8(process.env) ? String(chunk) : inAscii(String(chunk));
    const moved = /^\x1b\[(\d+)G$/.exec(text);
    if (moved) this.#column = Number(moved[1]);
    const isFrame = this.#frame === '' || erasing.test(text);
    if (isFrame && !moved) this.#replace(text.replace(erasing, ''));
    else this.#stderr.write(text);
    done();
  }

  /** Draws the frame below what is on the screen. */
  draw(): void {
    this.#stderr.write(this.#frame);
  }

  /** Draws the frame again in its place: terminals break its lines again when their width changes. */
  readonly redraw = (): void => {
    this.#replace(this.#frame);
  };

  /** Takes away what is below the line of the answer, and leaves the cursor where a shell can write. */
  leave(): void {
    this.#stderr.write(`\x1b[J\n${showCursor}\r`);
  }

  #replace(frame: string): void {
    const up = this.#rowsAbove();
    this.#stderr.write(`${up > 0 ? `\x1b[${up}A` : ''}${this.#frame === '' ? '' : clearBelow}${frame}`);
    this.#frame = frame;
    this.#column = Number(placing.exec(frame)?.[2] ?? 1);
  }

  /** Rows of the screen from the first of the frame to the one with the cursor. */
  #rowsAbove(): number {
    const placed = placing.exec(this.#frame);
    const lines = this.#frame.replace(placing, '').split('\n');
    const before = lines.slice(0, Math.max(0, lines.length - 1 - Number(placed?.[1] ?? 0)));
    const rows = before.map(line => Math.max(1, Math.ceil(width(line) / this.columns)));
    return rows.reduce((sum, count) => sum + count, 0) + Math.floor((this.#column - 1) / this.columns);
  }
}
