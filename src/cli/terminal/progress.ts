import type { Io } from './io.ts';
import { duration } from './when.ts';

const redrawMs = 100;

/** How far a work has come, on one line that is redrawn in place. Draws nothing where it has no terminal. */
export class Progress {
  readonly #io: Io | null;
  readonly #started = performance.now();
  #drawnAt = Number.NEGATIVE_INFINITY;
  #drawn = false;

  constructor(io: Io | null) {
    this.#io = io;
  }

  /** Rate and time left come out of `done` and `total` (null where it is not known). `unit` formats an amount. */
  show(label: string, done: number, total: number | null, unit: (amount: number) => string = String): void {
    const now = performance.now();
    if (!this.#io || now - this.#drawnAt < redrawMs) return;
    this.#drawnAt = now;
    const seconds = (now - this.#started) / 1000;
    const rate = seconds > 0 ? done / seconds : 0;
    const parts = [total === null ? unit(done) : `${unit(done)} of ${unit(total)}`];
    if (total) parts.unshift(`${Math.floor((100 * done) / total)}%`);
    if (rate > 0) parts.push(`${unit(Math.round(rate))}/s`);
    if (total && rate > 0) parts.push(`${duration((total - done) / rate)} left`);
    this.say(`${label}  ${parts.join('  ')}`);
  }

  /** A text in place of the line. */
  say(text: string): void {
    if (!this.#io) return;
    const room = (process.stderr.columns || 80) - 1;
    this.#io.say(`\r\x1b[K${text.length > room ? text.slice(0, room) : text}`);
    this.#drawn = true;
  }

  /** Takes the line away, so that something else can be written. */
  clear(): void {
    if (this.#drawn) this.#io?.say('\r\x1b[K');
    this.#drawn = false;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}
