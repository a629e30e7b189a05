/** The output of a roster run, for operators and for scripts. */
import type { Line } from '../../../../enrollment/line/line.ts';
import type { Person } from '../../../../enrollment/line/people.ts';
import type { PersonVerdict } from '../../../../enrollment/line/person-enrollment.ts';
import { Tally, type TallyFigures } from '../../../../enrollment/line/tally.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { count, counted } from '../../../count.ts';
import { Fault, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { wrapped } from '../../../terminal/card.ts';
import { statusStyle } from '../../../terminal/style.ts';
import { safe } from '../../../terminal/text.ts';
import { shorten, width } from '../../../terminal/width.ts';
import { enrolledWords, showRow } from '../enroll/report.ts';
import type { EnrollFile } from '../enroll/results.ts';
import { remarkOf } from './remarks.ts';

const bell = '\u0007';

const bindingWords = {
  issued: 'Enter binds and issues the key: leave it in',
  signed: 'Enter binds the key: leave it in and touch it',
  unplugged: 'Enter or unplugging binds the key',
} as const;

/** How a run is shown. */
interface Options {
  /** Whether an operator types at this terminal. */
  readonly isInteractive: boolean;
  readonly bell: boolean;
  readonly big: boolean;
  /** The work with a key that is bound: until it ends, the key stays in the reader. Null: none. */
  readonly then: 'issued' | 'signed' | null;
  /** The file of the roster, in words. */
  readonly roster: string;
}

/** Writes what the operator needs, the rows of `--json` and the file of results. */
export class RosterReport {
  readonly #context: Context;
  readonly #file: EnrollFile | null;
  readonly #options: Options;
  readonly #tally = new Tally(performance.now());
  /** The subject of the last prompt, which is not repeated. */
  #asked = '';
  #lastBound: EnrollmentOutcome | null = null;
  /** The last check that a key has passed. */
  #lastPassed: PersonVerdict | null = null;

  constructor(context: Context, file: EnrollFile | null, options: Options) {
    this.#context = context;
    this.#file = file;
    this.#options = options;
  }

  ready(line: Line): void {
    if (this.#file !== null && line.rows.finished > 0)
      this.#aside(`Continuing ${safe(this.#file.path)}: ${this.#progress(line)}.`);
    if (this.#options.isInteractive && !line.isOver)
      this.#notice(
        this.#dim(
          `${bindingWords[this.#options.then ?? 'unplugged']}. Esc: undo, s: skip, r: redo, Ctrl-C: end. A badge names the person.`,
        ),
      );
  }

  /** Names the person who is next, if that has changed. */
  ask(line: Line): void {
    const asked = line.person === null ? '' : `${line.person} ${line.rows.doneOf(line.person)}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    if (line.person === null) return;
    const person = line.rows.people[line.person]!;
    const what = person.type === null ? 'a key' : `a ${person.type}`;
    const more = person.wanted > 1 ? ` (${line.rows.doneOf(line.person) + 1} of ${person.wanted})` : '';
    const place = this.#dim(`[${count(line.person + 1)} of ${count(line.rows.people.length)}]`);
    this.#notice(`${place} ${this.#named(person)}`);
    this.#notice(`    ${this.#tint('cyan', `plug in ${what}${more}`)}`);
  }

  /** Names the person again, and what is in the reader: another program has written to the terminal. */
  again(line: Line): void {
    this.#asked = '';
    this.ask(line);
    if (line.phase.type === 'ready' && this.#lastPassed !== null) this.#pass(this.#lastPassed);
    if (line.phase.type === 'crowded') this.say('two keys', null, '');
  }

  /** A check that the key has passed, and what is next. */
  async passed(verdict: PersonVerdict): Promise<void> {
    this.#lastPassed = verdict;
    this.#pass(verdict);
    this.#ring(bell);
  }

  #pass({ row, proved }: PersonVerdict): void {
    const isUnchecked = row.result === 'spooled';
    const proof = proved === null ? '' : `, proof ${safe(proved.proof?.grade ?? 'none')}`;
    this.#notice(`  ${this.#tint('green', '✓ PASS')}  ${keyWords(row)}${proof}`);
    const { isInteractive, then } = this.#options;
    const act = then
      ? isInteractive
        ? 'press Enter'
        : 'leave it in'
      : `unplug it${isInteractive ? ' or press Enter' : ''}`;
    const bound = isUnchecked ? 'will be spooled for' : 'will be bound to';
    this.#notice(`    ${act}: it ${bound} ${safe(row.userId ?? '')}${isInteractive ? ' (Esc: undo)' : ''}`);
    if (isUnchecked)
      this.#notice(this.#dim('    the registry cannot be reached: it is unknown whether the key is registered'));
  }

  /** A key that is not bound, and why. */
  async failed({ failure, row }: PersonVerdict, key: string): Promise<void> {
    this.#tally.take(key, failure);
    await this.#file?.add(row);
    if (this.#context.globals.json) await this.#context.out.row(row);
    this.#notice(`  ${this.#tint('red', '✗ FAIL')}  ${keyWords(row)}  ${this.#tint('red', failure ?? '')}`);
    for (const line of wrapped(safe(row.message ?? ''), this.#context.io.columns - 4)) this.#notice(`    ${line}`);
    const bound =
      failure === 'not issued' || failure === 'not signed'
        ? `${safe(row.deviceId ?? '')} is bound`
        : 'nothing is bound';
    this.#notice(`    ${bound}, ${safe(row.userId ?? '')} still needs a key`);
    this.#ring(bell + bell);
  }

  /** A commit that has ended. A script gets the row of a key with a label from `labeled`. */
  async committed(verdict: PersonVerdict, key: string, isLabeled: boolean): Promise<void> {
    if (verdict.failure !== null) return this.failed(verdict, key);
    const { row } = verdict;
    this.#tally.take(key, null);
    this.#lastBound = row;
    await this.#write(row, `${this.#boundWords(row)}\n`, isLabeled);
  }

  async #write(row: EnrollmentOutcome, words: string, isLabeled: boolean): Promise<void> {
    try {
      await this.#file?.add(row);
    } catch (error) {
      await showRow(this.#context, row, words);
      throw notInFile(error, row);
    }
    if (!this.#context.globals.json || !isLabeled) await showRow(this.#context, row, words);
  }

  /** A bound key whose label is printed or has failed. `needsAttention`: its message is for the operator. */
  async labeled(row: EnrollmentOutcome, needsAttention: boolean): Promise<void> {
    if (this.#context.globals.json) return this.#context.out.row(row);
    if (!needsAttention) return;
    const about = safe(
      `${row.message ?? 'label: failed'}: it is the label of ${row.deviceId ?? ''} for ${row.userId ?? ''}`,
    );
    this.#notice(`  ${this.#tint('yellow', '!')} ${about}`);
    this.#ring(bell + bell);
  }

  /** The result of a key that was spooled. A script gets the row of a key with a label from `labeled`. */
  async delivered(row: EnrollmentOutcome, isBound: boolean, isLabeled: boolean): Promise<void> {
    const words = isBound ? `${this.#boundWords(row)}\n` : enrolledWords(this.#context, row);
    await this.#write(row, words, isLabeled);
    if (isBound) return;
    this.#tally.revoke(row.serialNumber ?? '', row.result);
    this.#notice(`    ${safe(row.userId ?? '')} needs another key`);
    // The person who is next is named again below it.
    this.#asked = '';
    this.#ring(bell + bell);
  }

  /** Keys whose last result is that they are not bound. */
  get failures(): number {
    return this.#tally.figures(performance.now()).failed;
  }

  /** Where the run is, after each key. */
  progress(line: Line): void {
    this.#aside(this.#progress(line));
  }

  /** A remark of the line. */
  say(what: Parameters<typeof remarkOf>[0], person: Person | null, text: string): void {
    const deviceId = this.#lastBound?.deviceId ?? null;
    this.#notice(
      `  ${this.#tint('yellow', '!')} ${safe(remarkOf(what, { person, text, deviceId, roster: this.#options.roster }))}`,
    );
    // The person is named again: the operator has to see for whom the next key is.
    this.#asked = '';
    if (what !== 'badge' && what !== 'skipped' && what !== 'undone') this.#ring(bell + bell);
  }

  /** The totals, and how to continue. `remark`: labels that are not printed. */
  end(line: Line, remark: string | null): void {
    // The terminal wrote ^C at the cursor.
    if (this.#context.io.interrupt.aborted && this.#context.io.stderrIsTerminal) this.#notice('');
    const skipped = line.rows.skipped > 0 ? `, ${line.rows.skipped} skipped` : '';
    const file = this.#file === null ? '' : `; results are in ${safe(this.#file.path)}`;
    const isDone = line.rows.finished === line.rows.people.length;
    const more = isDone ? '' : '; run the same command again to continue';
    notify(this.#context, `${this.#progress(line)}${skipped}${file}${this.#file === null ? '' : more}`);
    // A line of JSON has the reason of each label; the command is for people.
    if (remark !== null) notify(this.#context, remark);
  }

  #boundWords(row: EnrollmentOutcome): string {
    const { paint } = this.#context.out;
    if (row.result === 'new') return `${paint('cyan', '+ would bind')}  ${safe(row.userId ?? '')}  ${keyWords(row)}`;
    if (row.result === 'spooled') return `${paint('yellow', '… spooled')}  ${safe(row.userId ?? '')}  ${keyWords(row)}`;
    const state = row.status === null ? '' : paint(statusStyle(row.status), safe(row.status));
    return `${paint('green', '✓ bound')}  ${safe(row.userId ?? '')}  ${safe(row.deviceId ?? '')} ${state}  ${keyWords(row)}`;
  }

  #progress(line: Line): string {
    const words = tallyWords(this.#tally.figures(performance.now()));
    return `${count(line.rows.finished)} of ${counted(line.rows.people.length, 'row')} done${words && `; ${words}`}`;
  }

  /** The person; with --big in wide letters, if they fit. */
  #named({ userId, name }: Person): string {
    const id = safe(userId);
    if (!this.#options.big) return name === null ? this.#tint('bold', id) : `${this.#tint('bold', safe(name))} (${id})`;
    const room = Math.min(this.#context.io.columns, 200) - 2;
    const text = safe(name ?? userId);
    const wide = [...text].join(' ');
    const shown = width(wide) <= room ? wide : shorten(text, room, 'end');
    const banner = this.#tint('inverse', ` ${shown} `);
    return `${id}\n\n${this.#tint('bold', banner)}\n`;
  }

  /** Broken between words if the terminal is narrow; below its indentation. */
  #notice(text: string): void {
    const { globals, io, out } = this.#context;
    if (globals.json) return;
    for (const line of text.split('\n')) {
      const [indent = ''] = /^ */.exec(line) ?? [];
      for (const part of wrapped(line.slice(indent.length), io.columns - indent.length)) out.notice(indent + part);
    }
  }

  /** A remark in several lines if the terminal is narrow. */
  #aside(text: string): void {
    for (const line of wrapped(text, this.#context.io.columns)) this.#notice(this.#dim(line));
  }

  #ring(sound: string): void {
    if (this.#options.bell && this.#context.io.stderrIsTerminal) this.#context.io.say(sound);
  }

  #dim(text: string): string {
    return this.#tint('dim', text);
  }

  #tint(...args: Parameters<Context['out']['tint']>): string {
    return this.#context.out.tint(...args);
  }
}

/** Passed, failed by reason, yield in percent and keys per hour of this run; empty before the first key. */
function tallyWords({ passed, failed, reasons, yield: part, perHour }: TallyFigures): string {
  if (part === null) return '';
  const each = [...reasons].map(([failure, number]) => `${failure}: ${number}`);
  const why = each.length === 0 ? '' : ` (${each.join(', ')})`;
  const rate = perHour === null ? [] : [`${counted(perHour, 'key')} per hour`];
  return [`${passed} passed`, `${failed} failed${why}`, `yield ${part} %`, ...rate].join(', ');
}

const keyWords = ({ deviceType, serialNumber, simulated }: EnrollmentOutcome): string =>
  safe(`${deviceType} ${serialNumber ?? '(no readable serial)'}${simulated ? ' (simulated)' : ''}`);

/** The error for a key whose row the file does not have. If the key is bound, the operator has to know that. */
const notInFile = (error: unknown, { result, deviceId, userId }: EnrollmentOutcome): unknown =>
  error instanceof Fault && result !== 'failed'
    ? usage(
        error.message,
        `${safe(deviceId ?? '')} is bound to ${safe(userId ?? '')} and is not in the file. Free space on the disk and run the same command again: it writes the row`,
      )
    : error;
