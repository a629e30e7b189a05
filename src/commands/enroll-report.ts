/** What the operator sees of an enrolment, and what a script or a file gets. */
import { appendFileSync, statSync } from 'node:fs';
import type { Key } from '../api/hardware.ts';
import { systemWords, usage } from '../fault.ts';
import { toCsv } from '../terminal/csv.ts';
import { statusStyle } from '../terminal/style.ts';
import { safe, safeJson } from '../terminal/text.ts';
import type { Context } from './context.ts';
import { nameOf } from './device.ts';
import type { Outcome } from './enroll-key.ts';

const fields = [
  'result',
  'deviceId',
  'serialNumber',
  'deviceType',
  'activationCode',
  'status',
  'userId',
  'manufacturer',
  'model',
  'firmwareVersion',
  'serialSource',
  'simulated',
  'message',
] as const satisfies readonly (keyof Outcome)[];

const bell = '\u0007';

export class EnrollReport {
  readonly #context: Context;
  readonly #file: string | null;
  readonly #count: number | null;
  /** Standard error is a terminal and may be talked to. */
  readonly #lively: boolean;

  constructor(context: Context, file: string | null, count: number | null) {
    this.#context = context;
    this.#file = file;
    this.#count = count;
    this.#lively = context.io.stderrIsTerminal && !context.globals.quiet;
    // A file that cannot be written is found out before the first key, not after it.
    if (file !== null) this.#append('');
  }

  ready(): void {
    if (!this.#context.globals.json) this.#context.out.notice(this.#next());
  }

  #next(): string {
    return `${this.#context.out.tint('cyan', 'Plug in a key')} (Ctrl-C ends)`;
  }

  async row(outcome: Outcome, done: number): Promise<void> {
    const { out, globals } = this.#context;
    if (this.#file !== null) this.#append(this.#isCsv() ? toCsv(fields, [outcome], false) : `${safeJson(outcome)}\n`);
    if (globals.json) await out.row(outcome);
    else if (globals.quiet) await out.text(outcome.deviceId === null ? '' : `${safe(outcome.deviceId)}\n`);
    else await out.text(this.#words(outcome));
    if (globals.json && !this.#lively) return;
    if (this.#lively) this.#context.io.say(outcome.result === 'failed' ? bell + bell : bell);
    if (this.#count === null || done < this.#count) {
      const count = this.#count === null ? `${done}` : `${done} of ${this.#count}`;
      if (this.#lively)
        out.notice(
          `${out.tint('dim', `${count} done.`)} ${outcome.result === 'failed' ? 'Pull it, then:' : ''} ${this.#next()}`.replace(
            / {2,}/g,
            ' ',
          ),
        );
    }
  }

  #words(outcome: Outcome): string {
    const { paint } = this.#context.out;
    const what = safe(`${outcome.deviceType} ${outcome.serialNumber ?? '(no readable serial)'}`);
    const simulated = outcome.simulated ? paint('yellow', ' (simulated)') : '';
    const message = outcome.message ? `\n    ${safe(outcome.message)}` : '';
    const state = outcome.status === null ? '' : ` ${paint(statusStyle(outcome.status), safe(outcome.status))}`;
    const user = outcome.userId ? ` for ${safe(outcome.userId)}` : '';
    switch (outcome.result) {
      case 'failed':
        return `${paint('red', '✗ failed')}      ${what}${simulated}${message}\n`;
      case 'new':
        return `${paint('cyan', '+ new')}         ${what}${simulated} would be registered${message}\n`;
      case 'known':
        return `${paint('yellow', '= known')}       ${safe(outcome.deviceId ?? '')}${state}${user}  ${what}${simulated}${message}\n`;
      case 'registered':
        return `${paint('green', '✓ registered')}  ${safe(outcome.deviceId ?? '')}${state}${user}  ${what}${simulated}\n    activation code  ${paint('bold', safe(outcome.activationCode ?? '-'))}${message}\n`;
    }
  }

  passed(key: Key, why: string): void {
    if (!this.#context.globals.json)
      this.#context.out.notice(this.#context.out.tint('dim', `${nameOf(key)} ${why}: left out`));
  }

  again(key: Key, earlier: Outcome): void {
    if (!this.#context.globals.json)
      this.#context.out.notice(
        this.#context.out.tint('dim', `${nameOf(key)} again: it is ${safe(earlier.deviceId ?? 'done')}`),
      );
  }

  readonly link = (state: string, detail: string): void => {
    const { out } = this.#context;
    if (state === 'lost' || state === 'resumed') out.trace(`${state}${detail ? `: ${detail}` : ''}`);
  };

  summary(done: number, failed: number): void {
    const { out, globals } = this.#context;
    const text = `${done} keys handled${failed ? `, ${failed} failed` : ''}${this.#file === null ? '' : `; results are in ${this.#file}`}`;
    if (globals.json) out.trace(text);
    else out.notice(text);
  }

  close(): void {
    this.#context.out.end();
  }

  #isCsv(): boolean {
    return !/\.(jsonl|ndjson|json)$/i.test(this.#file ?? '');
  }

  /** Adds to what earlier runs have written; a file that is new gets its header. */
  #append(text: string): void {
    const file = this.#file!;
    try {
      const isNew = !statSync(file, { throwIfNoEntry: false })?.size;
      appendFileSync(file, (isNew && this.#isCsv() ? toCsv(fields, [], true) : '') + text, { mode: 0o600 });
    } catch (error) {
      throw usage(`results cannot be written to ${file}: ${systemWords(error)}`);
    }
  }
}
