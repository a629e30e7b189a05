/** The output of an enrollment, for operators and for scripts. */
import type { Key } from '../../../contract/hardware.ts';
import type { Context } from '../../context.ts';
import { wrapped } from '../../terminal/card.ts';
import { statusStyle } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { width } from '../../terminal/width.ts';
import { nameOf } from '../devices/device.ts';
import { gradeStyle, isProved, proofLine, warningsOf } from '../devices/proof.ts';
import type { EnrolledKey } from './enroll-key.ts';
import type { EnrollFile } from './results.ts';

const bell = '\u0007';
/** For results that need attention: sounds different from one bell. */
const twice = bell + bell;
const indent = '    ';

/** How many keys are done. */
export interface Tally {
  /** Keys registered or recognized, including those of earlier runs. */
  readonly done: number;
  readonly failed: number;
}

/** Writes the results of an enrollment to the terminal and to its file. */
export class EnrollReport {
  readonly #context: Context;
  readonly #file: EnrollFile | null;
  readonly #count: number | null;
  /** Whether standard error is a terminal that shows notices. */
  readonly #lively: boolean;

  constructor(context: Context, file: EnrollFile | null, count: number | null) {
    this.#context = context;
    this.#file = file;
    this.#count = count;
    this.#lively = context.io.stderrIsTerminal && !context.globals.quiet;
  }

  ready(tally: Tally): void {
    const { out, globals } = this.#context;
    if (globals.json) return;
    if (this.#file !== null && tally.done > 0)
      out.notice(out.tint('dim', `Continuing ${safe(this.#file.path)} with ${keys(tally.done)}.`));
    if (this.#wants(tally)) out.notice(tally.done > 0 ? `${this.#tallied(tally)} ${this.#next()}` : this.#next());
  }

  async row(outcome: EnrolledKey, tally: Tally): Promise<void> {
    const { out, globals } = this.#context;
    this.#file?.add(outcome);
    if (globals.json) await out.row(outcome);
    else if (globals.quiet) await out.text(outcome.deviceId === null ? '' : `${safe(outcome.deviceId)}\n`);
    else await out.text(this.#words(outcome));
    this.#ask(tally, needsAttention(outcome) ? twice : bell);
  }

  skipped(key: Key, why: string, tally: Tally): void {
    this.#aside(`${nameOf(key)} ${why}: skipped`);
    this.#ask(tally, twice);
  }

  again(key: Key, deviceId: string | null, tally: Tally): void {
    this.#aside(`${nameOf(key)} again: it is ${safe(deviceId ?? 'done')}`);
    this.#ask(tally, bell);
  }

  readonly link = (state: string, detail: string): void => {
    const { out } = this.#context;
    if (state === 'lost' || state === 'resumed') out.trace(`${state}${detail ? `: ${detail}` : ''}`);
  };

  /** The totals of a run that was interrupted. */
  summary(tally: Tally): void {
    // The terminal wrote ^C at the cursor.
    if (this.#lively) this.#context.io.say('\n');
    this.#total(tally, '; run the same command again to continue');
  }

  /** The totals of a run that handled all wanted keys. */
  finished(tally: Tally): void {
    if (this.#file !== null || this.#count !== 1) this.#total(tally, '');
  }

  #total({ done, failed }: Tally, more: string): void {
    const { out, globals } = this.#context;
    const file = this.#file === null ? '' : `; results are in ${safe(this.#file.path)}${more}`;
    const text = `${keys(done)} handled${failed ? `, ${failed} failed` : ''}${file}`;
    if (globals.json) out.trace(text);
    else out.notice(text);
  }

  close(): void {
    this.#context.out.end();
  }

  #wants({ done }: Tally): boolean {
    return this.#count === null || done < this.#count;
  }

  /** Rings the bell, and shows progress and the next step in the last line of the screen. */
  #ask(tally: Tally, sound: string): void {
    if (!this.#lively) return;
    this.#context.io.say(sound);
    if (this.#wants(tally)) this.#context.out.notice(`${this.#tallied(tally)} ${this.#next()}`);
  }

  #next(): string {
    return `${this.#context.out.tint('cyan', 'Plug in a key')} (Ctrl-C ends)`;
  }

  #tallied({ done, failed }: Tally): string {
    const { tint } = this.#context.out;
    const count = this.#count === null ? `${done} done` : `${done} of ${this.#count} done`;
    return failed === 0 ? tint('dim', `${count}.`) : `${tint('dim', `${count},`)} ${tint('red', `${failed} failed.`)}`;
  }

  #aside(text: string): void {
    const { out, globals } = this.#context;
    if (!globals.json) out.notice(out.tint('dim', text));
  }

  #words(outcome: EnrolledKey): string {
    const { paint } = this.#context.out;
    const { result, deviceId, status, userId } = outcome;
    const what = safe(`${outcome.deviceType} ${outcome.serialNumber ?? '(no readable serial)'}`);
    const simulated = outcome.simulated ? paint('yellow', ' (simulated)') : '';
    const state = status === null ? '' : ` ${paint(statusStyle(status), safe(status))}`;
    const device = `${safe(deviceId ?? '')}${state}${userId ? ` for ${safe(userId)}` : ''}`;
    const code = `\n${indent}activation code  ${paint('bold', safe(outcome.activationCode ?? '-'))}`;
    const message = `${outcome.message === null ? '' : this.#prose(outcome.message)}${this.#proofOf(outcome)}`;
    switch (result) {
      case 'failed':
        return `${this.#line(paint('red', '✗ failed      '), `${what}${simulated}`)}${message}\n`;
      case 'new':
        return `${this.#line(paint('cyan', '+ new         '), `${what}${simulated}`)} would be registered${message}\n`;
      case 'known':
        return `${this.#line(`${paint(outcome.message === null ? 'yellow' : 'red', '= known       ')}${device}  `, `${what}${simulated}`)}${message}\n`;
      case 'registered':
        return `${this.#line(`${paint('green', '✓ registered  ')}${device}  `, `${what}${simulated}`)}${code}${message}\n`;
    }
  }

  /** The message of a key that failed has the reason. */
  #proofOf({ result, proof }: EnrolledKey): string {
    if (!proof || result === 'failed') return '';
    const words = this.#context.out.paint(gradeStyle(proof.grade), proofLine(proof));
    return `\n${indent}proof            ${words}${warningsOf(proof)
      .map(warning => this.#prose(warning))
      .join('')}`;
  }

  /** Both on one line if it is wide enough, else on two lines. */
  #line(head: string, tail: string): string {
    const line = head + tail;
    return width(line) <= this.#context.io.columns ? line : `${head.trimEnd()}\n${indent}${tail}`;
  }

  /** A text below a line, wrapped between words. */
  #prose(text: string): string {
    const lines = wrapped(safe(text), this.#context.io.columns - indent.length);
    return lines.map(line => `\n${indent}${line}`).join('');
  }
}

const needsAttention = ({ result, message, proof }: EnrolledKey): boolean =>
  result === 'failed' || message !== null || (proof !== undefined && !isProved(proof));

const keys = (count: number): string => (count === 1 ? '1 key' : `${count} keys`);
