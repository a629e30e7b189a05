/** The output of an enrollment, for operators and for scripts. */
import type { Key } from '../../../../contract/hardware.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { nameOf } from '../../../framework/devices/device.ts';
import { safe } from '../../../terminal/text.ts';
import { isProved } from '../../devices/proof.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import { showRow } from './enrolled-words.ts';
import type { KeyCount } from './key-count.ts';
import type { EnrollFile } from './results.ts';

const bell = '\u0007';
/** For results that need attention: sounds different from one bell. */
const twice = bell + bell;

/** How many keys are done. */
type Done = Pick<KeyCount, 'done' | 'failed'>;

/** Writes the results of an enrollment to the terminal and to its file. */
export class EnrollReport {
  readonly #context: Context;
  readonly #file: EnrollFile | null;
  readonly #count: number | null;
  /** Null if keys are not spooled. */
  readonly #spool: SpoolOutbox | null;
  /** Whether standard error is a terminal that shows notices. */
  readonly #lively: boolean;

  constructor(context: Context, file: EnrollFile | null, count: number | null, spool: SpoolOutbox | null) {
    this.#context = context;
    this.#file = file;
    this.#count = count;
    this.#spool = spool;
    this.#lively = context.io.stderrIsTerminal && !context.globals.quiet;
  }

  ready(tally: Done): void {
    const { out, globals } = this.#context;
    if (globals.json) return;
    if (this.#file !== null && tally.done > 0)
      out.notice(out.tint('dim', `Continuing ${safe(this.#file.path)} with ${keys(tally.done)}.`));
    if (this.#wants(tally)) out.notice(tally.done > 0 ? `${this.#tallied(tally)} ${this.#next()}` : this.#next());
  }

  async row(outcome: EnrollmentOutcome, tally: Done): Promise<void> {
    await this.#write(outcome);
    this.#ask(tally, needsAttention(outcome) ? twice : bell);
  }

  /** The result of a key that was spooled. It sounds only if the operator has to do something. */
  async delivered(outcome: EnrollmentOutcome, tally: Done): Promise<void> {
    await this.#write(outcome);
    this.#ask(tally, needsAttention(outcome) ? twice : '');
  }

  async #write(outcome: EnrollmentOutcome): Promise<void> {
    try {
      await this.#file?.add(outcome);
    } finally {
      // If the file cannot be written, the row and its code are at least shown.
      await showRow(this.#context, outcome);
    }
  }

  skipped(key: Key, why: string, tally: Done): void {
    this.#aside(`${nameOf(key)} ${why}: skipped`);
    this.#ask(tally, twice);
  }

  again(key: Key, deviceId: string | null, tally: Done): void {
    const isWaiting = (this.#spool?.waitingFor(key.serialNumber) ?? null) !== null;
    this.#aside(`${nameOf(key)} again: it is ${isWaiting ? 'in the spool file' : safe(deviceId ?? 'done')}`);
    this.#ask(tally, bell);
  }

  readonly link = (state: string, detail: string): void => {
    const { out } = this.#context;
    if (state === 'lost' || state === 'resumed') out.trace(`${state}${detail ? `: ${detail}` : ''}`);
  };

  /** The totals of a run that was interrupted. */
  summary(tally: Done): void {
    this.#total(tally, '; run the same command again to continue');
  }

  /** Starts a line of its own after Ctrl-C: the terminal wrote ^C at the cursor. */
  interrupted(): void {
    if (this.#lively) this.#context.io.say('\n');
  }

  /** The totals of a run that handled all wanted keys. */
  finished(tally: Done): void {
    if (this.#file !== null || this.#count !== 1 || tally.failed > 0) this.#total(tally, '');
  }

  #total({ done, failed }: Done, more: string): void {
    const file = this.#file === null ? '' : `; results are in ${safe(this.#file.path)}${more}`;
    notify(this.#context, `${keys(done)} handled${failed ? `, ${failed} failed` : ''}${file}`);
  }

  close(): void {
    this.#context.out.end();
  }

  #wants({ done }: Done): boolean {
    return this.#count === null || done < this.#count;
  }

  /** Rings the bell, and shows progress and the next step in the last line of the screen. */
  #ask(tally: Done, sound: string): void {
    if (!this.#lively) return;
    this.#context.io.say(sound);
    if (this.#wants(tally)) this.#context.out.notice(`${this.#tallied(tally)} ${this.#next()}`);
  }

  #next(): string {
    return `${this.#context.out.tint('cyan', 'Plug in a key')} (Ctrl-C ends)`;
  }

  #tallied({ done, failed }: Done): string {
    const { tint } = this.#context.out;
    const waiting = this.#spool?.waiting ?? 0;
    const spooled = waiting === 0 ? '' : `, ${waiting} spooled`;
    const count = `${this.#count === null ? `${done} done` : `${done} of ${this.#count} done`}${spooled}`;
    return failed === 0 ? tint('dim', `${count}.`) : `${tint('dim', `${count},`)} ${tint('red', `${failed} failed.`)}`;
  }

  #aside(text: string): void {
    const { out, globals } = this.#context;
    if (!globals.json) out.notice(out.tint('dim', text));
  }
}

const needsAttention = ({ result, message, proof }: EnrollmentOutcome): boolean =>
  result === 'failed' || result === 'conflict' || message !== null || (proof !== undefined && !isProved(proof));

const keys = (count: number): string => (count === 1 ? '1 key' : `${count} keys`);
