/** Where the results of a file go: standard output, and a file where one is named. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { toCsv } from '../../terminal/csv.ts';
import { safe, safeJson } from '../../terminal/text.ts';
import { holdsCsv } from './earlier-results.ts';
import { type Place, placeWords } from './line-number.ts';

/** The result of one line, or of one element of a JSON array, as it is written. */
export interface LineResult extends Place {
  readonly serialNumber: string | null;
  readonly status: 'success' | 'failed' | 'new' | 'registered' | 'invalid';
  readonly deviceId?: string;
  readonly activationCode?: string;
  /** Business code of a failure. */
  readonly code?: number;
  readonly field?: string;
  readonly message: string;
}

const resultFields = [
  'line',
  'serialNumber',
  'status',
  'deviceId',
  'activationCode',
  'code',
  'field',
  'message',
] as const satisfies readonly (keyof LineResult)[];

/** The number of an item is a column where there are items. */
const fieldsOf = ([first]: readonly LineResult[]): readonly (keyof LineResult)[] =>
  first?.item === undefined ? resultFields : [...resultFields, 'item'];

export class ResultFile {
  readonly #name: string;
  readonly #fd: number;
  readonly #asCsv: boolean;
  /** A pipe or a terminal has no places to write to, and no disk behind it. */
  readonly #isRegular: boolean;
  #header: boolean;
  #size: number;

  /** Goes on behind the first `size` bytes of an earlier run; 0 begins anew. */
  constructor(name: string, asJson: boolean, size: number) {
    this.#name = name;
    this.#asCsv =
      size > 0 ? holdsCsv(name) : /\.csv$/i.test(name) || (!asJson && !/\.(jsonl|ndjson|json)$/i.test(name));
    this.#size = size;
    try {
      // The results hold activation codes.
      this.#fd = openSync(name, size > 0 ? 'r+' : 'w', 0o600);
      this.#isRegular = fstatSync(this.#fd).isFile();
      if (size > 0) ftruncateSync(this.#fd, size);
    } catch (error) {
      throw usage(this.#unwritable(error));
    }
    this.#header = this.#asCsv && size === 0;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns when the disk has them. What could not be written whole is as if it had not been written. */
  write(results: readonly LineResult[]): void {
    const text = this.#asCsv
      ? toCsv(fieldsOf(results), results, this.#header)
      : results.map(result => `${safeJson(result)}\n`).join('');
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#isRegular ? this.#size + done : null);
      if (this.#isRegular) fsyncSync(this.#fd);
    } catch (error) {
      throw new Fault('failure', this.#unwritable(error));
    }
    this.#size += bytes.length;
    this.#header = false;
  }

  /** With its header, also where there was nothing to write. */
  finish(): void {
    if (this.#header) this.write([]);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #unwritable(error: unknown): string {
    return `results cannot be written to ${this.#name}: ${systemWords(error)}`;
  }
}

/** Failures that a person is shown where the results go to a file. */
const mostShown = 20;

/** Writes results to standard output in the way that was asked for. */
export class ResultWriter {
  readonly #context: Context;
  readonly #csv: boolean;
  readonly #toFile: boolean;
  #header = true;
  #shown = 0;

  constructor(context: Context, csv: boolean, toFile: boolean) {
    this.#context = context;
    this.#csv = csv;
    this.#toFile = toFile;
  }

  async write(results: readonly LineResult[]): Promise<void> {
    const { out, globals } = this.#context;
    if (globals.json) await out.text(results.map(result => `${safeJson(result)}\n`).join(''));
    else if (this.#csv) {
      await out.csv(fieldsOf(results), results, this.#header);
      this.#header = false;
    } else if (globals.quiet)
      await out.text(
        results.map(({ deviceId, status }) => (deviceId && status === 'success' ? `${safe(deviceId)}\n` : '')).join(''),
      );
    else if (this.#toFile) this.#showFailures(results);
    else await out.text(results.map(result => this.#line(result)).join(''));
  }

  #showFailures(results: readonly LineResult[]): void {
    const { out } = this.#context;
    for (const result of results) {
      if (result.status !== 'failed' && result.status !== 'invalid') continue;
      this.#shown++;
      if (this.#shown <= mostShown) out.notice(this.#line(result).trimEnd());
      else if (this.#shown === mostShown + 1) out.notice('… further failures are in the results');
    }
  }

  #line(result: LineResult): string {
    const { serialNumber, status, deviceId, activationCode, message } = result;
    const { paint } = this.#context.out;
    const where = placeWords(result).padEnd(10);
    const serial = safe(serialNumber ?? '-');
    if (status === 'success')
      return `${where} ${paint('green', '✓')} ${safe(deviceId ?? '')}  ${safe(activationCode ?? '')}  ${serial}\n`;
    if (status === 'new') return `${where} ${paint('green', '+')} new         ${serial}\n`;
    if (status === 'registered') return `${where} ${paint('yellow', '=')} registered  ${serial}  ${safe(message)}\n`;
    return `${where} ${paint('red', '✗')} ${status.padEnd(11)} ${serial}  ${safe(message)}\n`;
  }
}
