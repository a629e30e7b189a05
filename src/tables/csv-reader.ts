/**
 * Reads CSV as it arrives. A quote that is never closed costs one line, not the rest of the file: see docs/decisions/004-libraries.md.
 */

/** Separators of cells. Spreadsheets write semicolons in many countries. */
export const marks = [',', ';', '\t', '|'] as const;

/** Why a record is not valid. */
export type CsvProblem = 'open quote' | 'text after quote';

/** A problem in words. */
export const csvProblems: Readonly<Record<CsvProblem, string>> = {
  'open quote': 'a quote is opened and never closed',
  'text after quote': 'text follows a closing quote',
};

/** A record, with the line on which it starts, counted from 1. If it is not valid, the next record starts on the line after it. */
export type CsvRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: CsvProblem };

/** UTF-16 units of a record that spans lines. A longer one has a quote that was never closed. */
const longestRecord = 64 * 1024;

/** Reads records from chunks of any size, in constant memory. */
export class CsvReader {
  /** Whole lines that are not read yet: of a record whose quote is open. */
  #lines = '';
  /** The start of a line whose end has not arrived. */
  #rest = '';
  /** Number of the first line in `#lines`. */
  #line = 1;
  readonly #mark: string;

  /** `mark`: the separator of cells. */
  constructor(mark: string) {
    this.#mark = mark;
  }

  /** The line whose end has not arrived: its number, and what of it has arrived. */
  get unfinished(): { readonly line: number; readonly text: string } {
    return { line: this.#line + countBreaks(this.#lines), text: this.#rest };
  }

  /** The records that are complete with this chunk. Blank lines count but are not records. The last chunk ends with a line feed. */
  *read(chunk: string, isLast: boolean): Generator<CsvRecord> {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest += chunk;
      return;
    }
    const text = this.#lines + this.#rest + chunk.slice(0, end);
    this.#rest = chunk.slice(end);
    let at = 0;
    while (at < text.length) {
      const record = recordAt(text, at, this.#mark);
      const isOpen = 'problem' in record && record.problem === 'open quote';
      if (isOpen && !isLast && text.length - at <= longestRecord) break;
      const line = this.#line;
      const lineEnd = text.indexOf('\n', at) + 1;
      const problem = problemOf(record, at, lineEnd);
      const recordEnd = 'problem' in record || problem !== null ? lineEnd : record.end;
      this.#line += countBreaks(text.slice(at, recordEnd));
      at = recordEnd;
      if (problem !== null) yield { line, problem };
      else if ('cells' in record && !isBlank(record.cells)) yield { line, cells: record.cells };
    }
    this.#lines = text.slice(at);
  }
}

type FoundRecord = { readonly cells: readonly string[]; readonly end: number } | { readonly problem: CsvProblem };

function problemOf(record: FoundRecord, start: number, lineEnd: number): CsvProblem | null {
  if ('problem' in record) return record.problem;
  return record.end > lineEnd && record.end - start > longestRecord ? 'open quote' : null;
}

/** The record that starts at `start` of a text of whole lines. */
function recordAt(text: string, start: number, mark: string): FoundRecord {
  const lineEnd = text.indexOf('\n', start);
  const line = text.slice(start, lineEnd);
  if (!line.includes('"')) return { cells: withoutReturn(line).split(mark), end: lineEnd + 1 };
  const cells: string[] = [];
  for (let at = start; ; at++) {
    const isQuoted = text[at] === '"';
    const quoted = isQuoted ? quotedAt(text, at) : { cell: '', end: at };
    if (quoted === null) return { problem: 'open quote' };
    at = cellEnd(text, quoted.end, mark);
    const plain = text.slice(quoted.end, at);
    if (isQuoted && plain.trim() !== '') return { problem: 'text after quote' };
    const isLast = text[at] === '\n';
    cells.push(isQuoted ? quoted.cell : isLast ? withoutReturn(plain) : plain);
    if (isLast) return { cells, end: at + 1 };
  }
}

/** The quoted cell that starts at `start`, and where its closing quote ends; null if it has none. */
function quotedAt(text: string, start: number): { readonly cell: string; readonly end: number } | null {
  let cell = '';
  for (let from = start + 1; ; from++) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return null;
    cell += text.slice(from, quote);
    from = quote + 1;
    if (text[from] !== '"') return { cell, end: from };
    cell += '"';
  }
}

/** Where the next mark or line feed is. */
function cellEnd(text: string, start: number, mark: string): number {
  let at = start;
  while (text[at] !== mark && text[at] !== '\n') at++;
  return at;
}

const withoutReturn = (cell: string): string => (cell.endsWith('\r') ? cell.slice(0, -1) : cell);
const isBlank = (cells: readonly string[]): boolean => cells.length === 1 && cells[0]!.trim() === '';

function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
