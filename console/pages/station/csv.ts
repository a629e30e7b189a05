/** Reads CSV that is in memory. papaparse would take half of what a page may load: see docs/decisions/015-sign-in-and-console.md. */

/** A record, with the line on which it starts. */
type StationCsvRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: CsvProblem };

/** Why a record is not valid. */
export type CsvProblem = 'open quote' | 'text after quote';

/** The records of a text. Blank lines count but are not records. Ends at the first invalid record. */
export function* readCsv(text: string): Generator<StationCsvRecord> {
  const reader = new CsvReader(text);
  for (let record = reader.next(); record !== null; record = reader.next()) {
    const isBlank = 'cells' in record && record.cells.length === 1 && record.cells[0]?.trim() === '';
    if (!isBlank) yield record;
    if ('problem' in record) return;
  }
}

class CsvReader {
  readonly #text: string;
  readonly #mark: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
    this.#mark = delimiterOf(text);
  }

  /** The next record; null at the end. */
  next(): StationCsvRecord | null {
    if (this.#at >= this.#text.length) return null;
    const line = this.#line;
    const cells: string[] = [];
    do {
      const cell = this.#text[this.#at] === '"' ? this.#quoted() : { text: this.#plain() };
      if ('problem' in cell) return { line, problem: cell.problem };
      cells.push(cell.text);
    } while (this.#text[this.#at++] === this.#mark);
    this.#line++;
    return { line, cells };
  }

  /** A cell without quotes: up to the next mark or the end of the line. */
  #plain(): string {
    const from = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== this.#mark && this.#text[this.#at] !== '\n')
      this.#at++;
    const cell = this.#text.slice(from, this.#at);
    return this.#text[this.#at] === this.#mark ? cell : cell.replace(/\r$/, '');
  }

  #quoted(): { readonly text: string } | { readonly problem: CsvProblem } {
    let text = '';
    for (let from = this.#at + 1; ; ) {
      const end = this.#text.indexOf('"', from);
      if (end < 0) return { problem: 'open quote' };
      text += this.#text.slice(from, end);
      this.#at = end + 1;
      if (this.#text[this.#at] !== '"') break;
      text += '"';
      from = end + 2;
    }
    if (this.#plain() !== '') return { problem: 'text after quote' };
    this.#line += text.split('\n').length - 1;
    return { text };
  }
}

/** What separates the cells of the header. Spreadsheets write semicolons in many countries. */
function delimiterOf(text: string): string {
  const header = /\S[^\n]*/.exec(text)?.[0] ?? '';
  const counts = [',', ';', '\t'].map(mark => ({ mark, count: header.split(mark).length }));
  return counts.reduce((most, other) => (other.count > most.count ? other : most)).mark;
}
