/** The output of an enrollment, for operators and for scripts, and the result for one key in words. */
import type { Key } from '../../../../contract/hardware.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { nameOf } from '../../../framework/devices/device.ts';
import { wrapped } from '../../../terminal/card.ts';
import { statusStyle } from '../../../terminal/style.ts';
import { safe } from '../../../terminal/text.ts';
import { width } from '../../../terminal/width.ts';
import { gradeStyle, isProved, proofLine, warningsOf } from '../../devices/proof.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import type { KeyCount } from './key-count.ts';
import type { EnrollFile } from './results.ts';

const bell = '\u0007';
/** For results that need attention: sounds different from one bell. */
const twice = bell + bell;

/** How many keys are done. */
type KeyTotals = Pick<KeyCount, 'done' | 'failed'>;

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

  ready(tally: KeyTotals): void {
    const { out, globals } = this.#context;
    if (globals.json) return;
    if (this.#file !== null && tally.done > 0)
      out.notice(out.tint('dim', `Continuing ${safe(this.#file.path)} with ${keys(tally.done)}.`));
    if (this.#wants(tally)) out.notice(tally.done > 0 ? `${this.#tallied(tally)} ${this.#next()}` : this.#next());
  }

  async row(outcome: EnrollmentOutcome, tally: KeyTotals): Promise<void> {
    await this.#write(outcome);
    this.#ask(tally, needsAttention(outcome) ? twice : bell);
  }

  /** The result of a key that was spooled. It sounds only if the operator has to do something. */
  async delivered(outcome: EnrollmentOutcome, tally: KeyTotals): Promise<void> {
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

  skipped(key: Key, why: string, tally: KeyTotals): void {
    this.#aside(`${nameOf(key)} ${why}: skipped`);
    this.#ask(tally, twice);
  }

  again(key: Key, deviceId: string | null, tally: KeyTotals): void {
    const isWaiting = (this.#spool?.waitingFor(key.serialNumber) ?? null) !== null;
    this.#aside(`${nameOf(key)} again: it is ${isWaiting ? 'in the spool file' : safe(deviceId ?? 'done')}`);
    this.#ask(tally, bell);
  }

  readonly link = (state: string, detail: string): void => {
    const { out } = this.#context;
    if (state === 'lost' || state === 'resumed') out.trace(`${state}${detail ? `: ${detail}` : ''}`);
  };

  /** The totals of a run that was interrupted. */
  summary(tally: KeyTotals): void {
    this.#total(tally, '; run the same command again to continue');
  }

  /** Starts a line of its own after Ctrl-C: the terminal wrote ^C at the cursor. */
  interrupted(): void {
    if (this.#lively) this.#context.io.say('\n');
  }

  /** The totals of a run that handled all wanted keys. */
  finished(tally: KeyTotals): void {
    if (this.#file !== null || this.#count !== 1 || tally.failed > 0) this.#total(tally, '');
  }

  #total({ done, failed }: KeyTotals, more: string): void {
    const file = this.#file === null ? '' : `; results are in ${safe(this.#file.path)}${more}`;
    notify(this.#context, `${keys(done)} handled${failed ? `, ${failed} failed` : ''}${file}`);
  }

  close(): void {
    this.#context.out.end();
  }

  #wants({ done }: KeyTotals): boolean {
    return this.#count === null || done < this.#count;
  }

  /** Rings the bell, and shows progress and the next step in the last line of the screen. */
  #ask(tally: KeyTotals, sound: string): void {
    if (!this.#lively) return;
    this.#context.io.say(sound);
    if (this.#wants(tally)) this.#context.out.notice(`${this.#tallied(tally)} ${this.#next()}`);
  }

  #next(): string {
    return `${this.#context.out.tint('cyan', 'Plug in a key')} (Ctrl-C ends)`;
  }

  #tallied({ done, failed }: KeyTotals): string {
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

const indent = '    ';

/**
 * Writes the row of a key to standard output: for a script the row, with --quiet its device, else words. Null: those of `enrolledWords`.
 */
export async function showRow(context: Context, row: EnrollmentOutcome, words: string | null = null): Promise<void> {
  const { globals, out } = context;
  if (globals.json) await out.row(row);
  else if (globals.quiet) await out.text(row.deviceId === null ? '' : `${safe(row.deviceId)}\n`);
  else await out.text(words ?? enrolledWords(context, row));
}

/** One line or more, each with a line feed. */
export function enrolledWords(context: Context, outcome: EnrollmentOutcome): string {
  const { paint } = context.out;
  const { result, deviceId, status, userId } = outcome;
  const what = safe(`${outcome.deviceType} ${outcome.serialNumber ?? '(no readable serial)'}`);
  const key = `${what}${outcome.simulated ? paint('yellow', ' (simulated)') : ''}`;
  const state = status === null ? '' : ` ${paint(statusStyle(status), safe(status))}`;
  const device = `${safe(deviceId ?? '')}${state}${userId ? ` for ${safe(userId)}` : ''}`;
  // A code that has activated the device is of no use.
  const code =
    status === 'ACTIVE' ? '' : `\n${indent}activation code  ${paint('bold', safe(outcome.activationCode ?? '-'))}`;
  const message = `${outcome.message === null ? '' : prose(context, outcome.message)}${proofOf(context, outcome)}${providersOf(outcome)}`;
  switch (result) {
    case 'failed':
      return `${line(context, `${paint('red', '✗ failed      ')}${deviceId === null ? '' : `${device}  `}`, key)}${message}\n`;
    case 'conflict':
      return `${line(context, paint('red', '✗ conflict    '), key)}${message}\n`;
    case 'new':
      return `${line(context, paint('cyan', '+ new         '), key)} would be registered${message}\n`;
    case 'spooled':
      return `${line(context, paint('yellow', '… spooled     '), key)}${message}\n`;
    case 'known':
      return `${line(context, `${paint('yellow', '= known       ')}${device}  `, key)}${message}\n`;
    case 'registered':
      return `${line(context, `${paint('green', '✓ registered  ')}${device}  `, key)}${code}${message}\n`;
  }
}

/** The message of a key that failed has the reason. */
function proofOf(context: Context, { result, proof }: EnrollmentOutcome): string {
  if (!proof || result === 'failed') return '';
  const words = context.out.paint(gradeStyle(proof.grade), proofLine(proof));
  const warnings = warningsOf(proof).map(warning => prose(context, warning));
  return `\n${indent}proof            ${words}${warnings.join('')}`;
}

/** Where the key signs in. The message of a key that failed has the rest. */
function providersOf({ providers = {} }: EnrollmentOutcome): string {
  const issued = Object.keys(providers).filter(name => providers[name] === 'issued');
  return issued.length === 0 ? '' : `\n${indent}signs in at      ${safe(issued.join(', '))}`;
}

/** Both on one line if it is wide enough, else on two lines. */
function line({ io }: Context, head: string, tail: string): string {
  const both = head + tail;
  return width(both) <= io.columns ? both : `${head.trimEnd()}\n${indent}${tail}`;
}

/** A text below a line, wrapped between words. */
function prose({ io }: Context, text: string): string {
  const lines = wrapped(safe(text), io.columns - indent.length);
  return lines.map(part => `\n${indent}${part}`).join('');
}
