/** The labels of a roster run. They are printed beside the line: a printer that waits or fails holds up no person. */
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { counted } from '../../../count.ts';
import type { Context } from '../../../framework/context.ts';
import { safe } from '../../../terminal/text.ts';
import { type KeyLabel, withoutLabel } from '../labels/enrolled.ts';

/** Takes the row of a bound key again when its label is printed or has failed. `needsAttention`: its message is about the label. */
type OnLabel = (row: EnrollmentOutcome, needsAttention: boolean) => Promise<void>;

export class RosterLabels {
  readonly #context: Context;
  readonly #label: KeyLabel;
  readonly #labeled: OnLabel;
  /** The file of results if it is CSV; else null. */
  readonly #results: string | null;
  /** Bound keys whose labels are not printed, in the order in which they were bound. */
  readonly #missing = new Set<EnrollmentOutcome>();
  #last: Promise<void> = Promise.resolve();

  constructor(context: Context, label: KeyLabel, results: string | null, labeled: OnLabel) {
    this.#context = context;
    this.#label = label;
    this.#labeled = labeled;
    this.#results = results;
  }

  /** Prints the label after those before it, or the letter of this PIN. Resolves when it is printed, has failed, or Ctrl-C was pressed. */
  add(row: EnrollmentOutcome, pin: string | null = null): Promise<void> {
    this.#missing.add(row);
    this.#last = this.#last.then(() => this.#one(row, pin));
    return this.#last;
  }

  async #one(row: EnrollmentOutcome, pin: string | null): Promise<void> {
    const { interrupt } = this.#context.io;
    const stopped = interrupt.aborted ? ended(row) : untilAborted(interrupt).then(() => ended(row));
    const labeled = await Promise.race([stopped, this.#label.print(row, pin)]);
    if (labeled.label !== 'failed') this.#missing.delete(row);
    await this.#labeled(labeled, labeled.message !== row.message);
  }

  /** Which labels are not printed, and the command that prints them; null if all are. */
  get remark(): string | null {
    const ids = [...this.#missing].flatMap(({ deviceId }) => deviceId ?? []);
    if (ids.length === 0) return null;
    const isOne = ids.length === 1;
    return safe(
      `${counted(ids.length, 'label')} ${isOne ? 'is' : 'are'} not printed. Print ${isOne ? 'it' : 'them'} later: ${this.#label.again(ids, this.#results)}`,
    );
  }
}

const ended = (row: EnrollmentOutcome): EnrollmentOutcome => withoutLabel(row, 'the run was ended');

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
