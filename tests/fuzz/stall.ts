/**
 * Finds the inputs that hold a daemon's main thread for longer than they may. While many are sent at once, a daemon that works
 * much between two answers, whomever they are for, makes suspects of those it has then; each is later sent alone. Work is
 * processor time of that thread: what else the machine does does not count.
 */
import { mainThreadMilliseconds } from '../support/main-thread.ts';
import type { Input } from './inputs.ts';

/** Milliseconds of the main thread that one input may take. */
export const MOST_WORK = 50;
/** Inputs that were answered just before: work may continue after the answer. */
const BEFORE = 4;

export class StallWatch {
  readonly #pid: number;
  readonly #underWay = new Set<Input>();
  #answered: Input[] = [];
  #workThen: number;
  readonly suspects = new Set<Input>();

  constructor(pid: number) {
    this.#pid = pid;
    this.#workThen = this.#work();
  }

  /** Call before an input is sent. */
  began(input: Input): void {
    this.#look();
    this.#underWay.add(input);
  }

  /** Call when it has been answered. */
  ended(input: Input): void {
    this.#look();
    this.#underWay.delete(input);
    this.#answered = [...this.#answered, input].slice(-BEFORE);
  }

  /** Milliseconds of work while an input is sent alone. */
  async workOf(send: () => Promise<unknown>): Promise<number> {
    const before = this.#work();
    await send();
    return this.#work() - before;
  }

  #look(): void {
    const work = this.#work();
    if (work - this.#workThen > MOST_WORK)
      for (const suspect of [...this.#underWay, ...this.#answered]) this.suspects.add(suspect);
    this.#workThen = work;
  }

  /** Linux alone tells; elsewhere nothing is suspected. 0 as well where the daemon has ended, which others notice. */
  #work(): number {
    try {
      return mainThreadMilliseconds(this.#pid);
    } catch {
      return 0;
    }
  }
}
