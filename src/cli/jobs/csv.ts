/**
 * Reads CSV from a stream. papaparse reads the cells; this layer adds line numbers and recovers from a quote that is never
 * closed: only that line is lost. Neither papaparse nor csv-parse can do that alone: see docs/decisions/004-libraries.md.
 */
import type { ParseError } from 'papaparse';
import { checkLength } from './input-text.ts';

/** A record, with the line on which it starts. */
export type CsvRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  /** The line is not valid; the next record starts on the line after it. */
  | { readonly line: number; readonly problem: string };

type Papa = typeof import('papaparse');

/** UTF-16 units of a record that spans lines. A longer one has a quote that was never closed. */
const maxRecordLength = 64 * 1024;
/** UTF-16 units that are parsed at once: each invalid line costs a search through them. */
const windowLength = 8 * 1024;

/** The records of a text that arrives in chunks of any size, in constant memory. Blank lines count but are not records. Throws `TooLong`. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const { default: papa } = (await import('papaparse')) as unknown as { readonly default: Papa };
  const reader = new CsvReader(papa);
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += windowLength)
      yield* reader.read(chunk.slice(at, at + windowLength), false);
  yield* reader.read('\n', true);
}

class CsvReader {
  readonly #papa: Papa;
  /** Whole lines that are not read yet. */
  #lines = '';
  /** The start of a line whose end has not arrived. */
  #rest = '';
  /** Number of the first line in `#lines`. */
  #line = 1;
  #delimiter: string | null = null;

  constructor(papa: Papa) {
    this.#papa = papa;
  }

  /** The records that are complete with this chunk. The last chunk ends the last line. */
  *read(chunk: string, isLast: boolean): Generator<CsvRecord> {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest += chunk;
      checkLength(this.#rest, `line ${this.#line + countBreaks(this.#lines, 0, this.#lines.length)}`);
      return;
    }
    this.#lines += this.#rest + chunk.slice(0, end);
    this.#rest = chunk.slice(end);
    this.#delimiter ??= delimiterOf(this.#lines);
    if (this.#delimiter === null) this.#take(this.#lines.length);
    while (this.#delimiter !== null && this.#lines !== '') {
      const { records, problem } = this.#parse(this.#delimiter);
      yield* records;
      if (problem === null || (problem === neverClosed && !isLast && this.#lines.length <= maxRecordLength)) return;
      yield { line: this.#line, problem };
      this.#take(this.#lines.indexOf('\n') + 1);
    }
  }

  /** Takes the records up to the first invalid one, which stays. */
  #parse(delimiter: string): { readonly records: readonly CsvRecord[]; readonly problem: string | null } {
    const records: CsvRecord[] = [];
    const text = this.#lines;
    let problem: string | null = null;
    let start = 0;
    let line = this.#line;
    this.#papa.parse<string[]>(text, {
      delimiter,
      newline: '\n',
      step: ({ data, errors, meta: { cursor } }, parser) => {
        if (start === text.length) return;
        problem = problemOf(errors, text.slice(start, cursor));
        if (problem !== null) return parser.abort();
        const cells = text[cursor - 2] === '\r' ? withoutReturn(data) : data;
        if (cells.length > 1 || cells[0]!.trim() !== '') records.push({ line, cells });
        line += countBreaks(text, start, cursor);
        start = cursor;
      },
    });
    this.#take(start);
    return { records, problem };
  }

  #take(length: number): void {
    this.#line += countBreaks(this.#lines, 0, length);
    this.#lines = this.#lines.slice(length);
  }
}

function countBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

const neverClosed = 'a quote is opened and never closed';

function problemOf(errors: readonly ParseError[], record: string): string | null {
  if (errors.some(({ code }) => code === 'InvalidQuotes')) return 'text follows a closing quote';
  const spansLines = record.indexOf('\n') < record.length - 1;
  return errors.length || (spansLines && record.length > maxRecordLength) ? neverClosed : null;
}

/** papaparse takes one kind of line break; with line feeds it leaves the carriage return of CRLF in the last cell. */
const withoutReturn = (cells: readonly string[]): readonly string[] => [
  ...cells.slice(0, -1),
  cells.at(-1)!.replace(/\r$/, ''),
];

/** What separates the cells of the header. Spreadsheets write semicolons in many countries. Null if all lines are blank. */
function delimiterOf(lines: string): string | null {
  const header = lines.split('\n').find(line => line.trim() !== '');
  if (header === undefined) return null;
  const counts = [',', ';', '\t'].map(mark => ({ mark, count: header.split(mark).length }));
  return counts.reduce((most, other) => (other.count > most.count ? other : most)).mark;
}
