/** A screen that is drawn again and again in place: the second buffer of the terminal, so that nothing scrolls away. */
import type { Io } from './io.ts';
import { harmless } from './text.ts';
import { shorten } from './width.ts';

const enter = '\x1b[?1049h\x1b[?25l';
const leave = '\x1b[?25h\x1b[?1049l';
const home = '\x1b[H';
const clearLine = '\x1b[K';
const clearBelow = '\x1b[J';

/** Drawn frame: lines that fit the width, and a line of text below them that is shortened. */
export interface Frame {
  readonly lines: readonly string[];
  readonly footer: string;
}

export class LiveScreen {
  readonly #io: Io;
  readonly #colored: boolean;
  readonly #frame: () => Promise<Frame>;

  /** `frame` makes what is drawn, for the width that the terminal has by then. */
  constructor(io: Io, colored: boolean, frame: () => Promise<Frame>) {
    this.#io = io;
    this.#colored = colored;
    this.#frame = frame;
  }

  async open(): Promise<void> {
    process.on('exit', this.#left);
    process.on('SIGTSTP', this.#stop);
    process.on('SIGCONT', this.#continue);
    this.#io.stdout.on('resize', this.#drawAgain);
    await this.#io.write(enter);
  }

  /** Shows the terminal as it was before. */
  async close(): Promise<void> {
    process.off('exit', this.#left);
    process.off('SIGTSTP', this.#stop);
    process.off('SIGCONT', this.#continue);
    this.#io.stdout.off('resize', this.#drawAgain);
    await this.#io.write(leave);
  }

  async draw(): Promise<void> {
    const { lines, footer } = await this.#frame();
    const { columns, rows } = this.#io;
    const room = Math.max(1, rows - 1);
    const isCut = lines.length > room;
    const shown = isCut ? [...lines.slice(0, room - 1), `(${lines.length - room + 1} more lines)`] : lines;
    const text = [...shown, shorten(footer, columns, 'end')]
      .map(line => `${harmless(line, this.#colored)}${clearLine}`)
      .join('\n');
    await this.#io.write(`${home}${text}${clearBelow}`);
  }

  readonly #drawAgain = (): void => {
    // Without a terminal the next write of the command fails as well, and is reported.
    this.draw().catch(() => undefined);
  };

  /** A second Ctrl-C ends the process at once. */
  readonly #left = (): void => {
    process.getBuiltinModule('node:fs').writeSync(1, leave);
  };

  readonly #stop = (): void => {
    this.#left();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #continue = (): void => {
    this.#io.write(enter).then(this.#drawAgain, () => undefined);
  };
}
