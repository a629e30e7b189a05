/** Work that takes longer than a moment, shown on a terminal while it lasts. ora draws it, and is loaded only then. */
import type { Ora } from 'ora';
import { count } from '../count.ts';
import type { Io } from './io.ts';
import { hasUtf8 } from './style.ts';
import { duration } from './when.ts';

/** Milliseconds that work may take before anything is shown. */
const momentMs = 300;

/** One line that is redrawn in place. */
export class Progress {
  readonly #io: Io | null;
  readonly #colored: boolean;
  /** Start of the work that is shown, on the clock of `performance`. */
  #started = 0;
  #text: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #spinner: Ora | null = null;

  /** Without a terminal (`null`) nothing is drawn. */
  constructor(io: Io | null, colored: boolean) {
    this.#io = io;
    this.#colored = colored;
  }

  /** The progress of work, with rate and time left. `total` is null if it is not known; `unit` formats an amount. */
  show(label: string, done: number, total: number | null, unit: (amount: number) => string = count): void {
    this.#begin();
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = seconds > 0 ? done / seconds : 0;
    const parts = [total === null ? unit(done) : `${unit(done)} of ${unit(total)}`];
    if (total) parts.unshift(`${Math.floor((100 * Math.min(done, total)) / total)}%`);
    if (rate > 0) parts.push(`${unit(Math.round(rate))}/s`);
    if (total && rate > 0) parts.push(`${duration(Math.max(0, total - done) / rate)} left`);
    this.say(`${label}  ${parts.join('  ')}`);
  }

  /** Any other text in place of the line. */
  say(text: string): void {
    this.#begin();
    this.#text = text;
    if (this.#spinner) this.#spinner.text = text;
  }

  /** Shows `label` as long as `work` lasts. */
  async during<T>(label: string, work: Promise<T>): Promise<T> {
    this.say(label);
    try {
      return await work;
    } finally {
      this.clear();
    }
  }

  /** Removes the line. What is shown after that is other work, with a rate of its own. */
  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#spinner?.stop();
    this.#spinner = null;
    this.#text = null;
  }

  #begin(): void {
    if (this.#io === null || this.#text !== null) return;
    this.#started = performance.now();
    this.#timer = setTimeout(() => void this.#draw(this.#io!), momentMs);
    this.#timer.unref();
  }

  async #draw({ stderr }: Io): Promise<void> {
    const { default: ora } = await import('ora');
    if (this.#text === null || this.#spinner) return;
    this.#spinner = ora({
      text: this.#text,
      stream: stderr,
      ...(hasUtf8(process.env) ? {} : { spinner: 'line' as const }),
      isEnabled: true,
      color: this.#colored ? 'cyan' : false,
      // Raw mode would take Ctrl-C and Ctrl-Z from the terminal, and a program that Ctrl-Z stops cannot show the cursor.
      discardStdin: false,
      hideCursor: false,
    }).start();
  }
}
