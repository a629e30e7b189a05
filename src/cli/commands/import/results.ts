/** Writes the results of `register --file`: to standard output, and to a file if `--out` names one. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { Fault, systemWords, usage } from '../../fault.ts';
import { toCsv } from '../../terminal/csv.ts';
import { safe, safeJson } from '../../terminal/text.ts';
import { isCsvFile } from './earlier-results.ts';
import { type Position, positionText } from './line-number.ts';

/** The result of one line, or of one element of a JSON array; the names are those of the output. */
export interface LineResult extends Position {
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

/** The results of an array have a column for the number of the item. */
export const fieldsOf = ([first]: readonly LineResult[]): readonly (keyof LineResult)[] =>
  first?.item === undefined ? resultFields : [...resultFields, 'item'];

/** The file named by `--out`: JSON lines or CSV. */
export class ResultFile<Result extends object = LineResult> {
  readonly #name: string;
  readonly #fields: (results: readonly Result[]) => readonly string[];
  readonly #fd: number;
  readonly #asCsv: boolean;
  /** A pipe or a terminal has no offsets and is not synced. */
  readonly #isRegular: boolean;
  #header: boolean;
  #size: number;

  /** Continues after the first `size` bytes of an earlier run; 0 starts over. `fields` are the columns of the CSV. */
  constructor(name: string, asJson: boolean, size: number, fields: (results: readonly Result[]) => readonly string[]) {
    this.#name = name;
    this.#fields = fields;
    this.#asCsv =
      size > 0 ? isCsvFile(name) : /\.csv$/i.test(name) || (!asJson && !/\.(jsonl|ndjson|json)$/i.test(name));
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

  /** Bytes written so far, earlier runs included. */
  get size(): number {
    return this.#size;
  }

  /** Returns when the results are on the disk. A partial write does not count. */
  write(results: readonly Result[]): void {
    const text = this.#asCsv
      ? toCsv(this.#fields(results), results, this.#header)
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

  /** Writes the header if there were no results. */
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

/** Failures shown to a person if the results go to a file. */
export const maxShown = 20;

/** Writes results to standard output: as JSON lines, as CSV, as ids alone, or for people. */
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
      if (this.#shown <= maxShown) out.notice(this.#line(result).trimEnd());
      else if (this.#shown === maxShown + 1) out.notice('… further failures are in the results');
    }
  }

  #line(result: LineResult): string {
    const { serialNumber, status, deviceId, activationCode, message } = result;
    const { paint } = this.#context.out;
    const where = positionText(result).padEnd(10);
    const serial = safe(serialNumber ?? '-');
    if (status === 'success')
      return `${where} ${paint('green', '✓')} ${safe(deviceId ?? '')}  ${safe(activationCode ?? '')}  ${serial}\n`;
    if (status === 'new') return `${where} ${paint('green', '+')} new         ${serial}\n`;
    if (status === 'registered') return `${where} ${paint('yellow', '=')} registered  ${serial}  ${safe(message)}\n`;
    return `${where} ${paint('red', '✗')} ${status.padEnd(11)} ${serial}  ${safe(message)}\n`;
  }
}
