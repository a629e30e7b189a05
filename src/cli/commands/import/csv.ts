/** Reads CSV as it streams by: quoted cells may hold delimiters and line breaks, and every record knows its line. */

export type CsvRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  /** The record cannot be read; the next line begins another one. */
  | { readonly line: number; readonly problem: string };

/** A quote that is open for so long has been forgotten; reading goes on with the line after the one it stands in. */
const longestRecord = 64 * 1024;

export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const scanner = new Scanner();
  for await (const chunk of chunks) {
    scanner.add(chunk);
    yield* scanner.records(false);
  }
  yield* scanner.records(true);
}

type Step =
  | { readonly kind: 'record'; readonly cells: readonly string[]; readonly next: number }
  | { readonly kind: 'broken'; readonly problem: string }
  | { readonly kind: 'more' };

class Scanner {
  #text = '';
  #at = 0;
  #line = 1;
  #delimiter: string | null = null;

  add(chunk: string): void {
    this.#text = this.#text.slice(this.#at) + chunk;
    this.#at = 0;
  }

  *records(atEnd: boolean): Generator<CsvRecord> {
    while (this.#at < this.#text.length) {
      this.#delimiter ??= this.#sniff(atEnd);
      if (this.#delimiter === null) return;
      const step = this.#step(this.#delimiter, atEnd);
      if (step.kind === 'more') return;
      const line = this.#line;
      const next = step.kind === 'record' ? step.next : this.#lineEnd(this.#at, atEnd);
      if (next < 0) return;
      this.#line += countBreaks(this.#text, this.#at, next);
      this.#at = next;
      if (step.kind === 'broken') yield { line, problem: step.problem };
      else if (step.cells.length > 1 || step.cells[0]!.trim() !== '') yield { line, cells: step.cells };
    }
  }

  /** Spreadsheets of many countries write semicolons; others tabs. The header says which. */
  #sniff(atEnd: boolean): string | null {
    const end = this.#text.indexOf('\n', this.#at);
    if (end < 0 && !atEnd && this.#text.length < longestRecord) return null;
    const header = this.#text.slice(this.#at, end < 0 ? undefined : end);
    const counts = [',', ';', '\t'].map(mark => ({ mark, count: header.split(mark).length }));
    return counts.reduce((most, other) => (other.count > most.count ? other : most)).mark;
  }

  #step(delimiter: string, atEnd: boolean): Step {
    const end = this.#lineEnd(this.#at, atEnd);
    if (end >= 0) {
      const line = withoutBreak(this.#text.slice(this.#at, end));
      if (!line.includes('"')) return { kind: 'record', cells: line.split(delimiter), next: end };
    }
    if (end < 0 && this.#text.length - this.#at <= longestRecord) return { kind: 'more' };
    return this.#quoted(delimiter, atEnd);
  }

  #quoted(delimiter: string, atEnd: boolean): Step {
    const cells: string[] = [];
    let at = this.#at;
    for (;;) {
      const cell = this.#text[at] === '"' ? this.#quotedCell(at, atEnd) : this.#plainCell(at, delimiter, atEnd);
      if ('kind' in cell) return cell;
      cells.push(cell.value);
      const after = this.#text[cell.next];
      if (after === delimiter) at = cell.next + 1;
      else if (after === undefined) return atEnd ? { kind: 'record', cells, next: cell.next } : { kind: 'more' };
      else if (after === '\n') return { kind: 'record', cells, next: cell.next + 1 };
      else if (after === '\r' && this.#text[cell.next + 1] === '\n')
        return { kind: 'record', cells, next: cell.next + 2 };
      else if (after === '\r' && this.#text[cell.next + 1] === undefined && !atEnd) return { kind: 'more' };
      else if (after === '\r' && atEnd) return { kind: 'record', cells, next: this.#text.length };
      else return { kind: 'broken', problem: 'text follows a closing quote' };
    }
  }

  #quotedCell(start: number, atEnd: boolean): { value: string; next: number } | Step {
    let from = start + 1;
    let value = '';
    for (;;) {
      const quote = this.#text.indexOf('"', from);
      if (quote < 0 || quote - start > longestRecord) {
        if (!atEnd && this.#text.length - start <= longestRecord) return { kind: 'more' };
        return { kind: 'broken', problem: 'a quote is opened and never closed' };
      }
      value += this.#text.slice(from, quote);
      if (this.#text[quote + 1] !== '"') {
        // At the end of a chunk the second of two quotes may still be to come.
        return quote + 1 < this.#text.length || atEnd ? { value, next: quote + 1 } : { kind: 'more' };
      }
      value += '"';
      from = quote + 2;
    }
  }

  #plainCell(start: number, delimiter: string, atEnd: boolean): { value: string; next: number } | Step {
    const stop = this.#text.indexOf(delimiter, start);
    const lineEnd = this.#text.indexOf('\n', start);
    const end = Math.min(stop < 0 ? Infinity : stop, lineEnd < 0 ? Infinity : lineEnd);
    if (end === Infinity) {
      if (!atEnd) return { kind: 'more' };
      return { value: withoutBreak(this.#text.slice(start)), next: this.#text.length };
    }
    const next = end === lineEnd && this.#text[end - 1] === '\r' && end - 1 >= start ? end - 1 : end;
    return { value: this.#text.slice(start, next), next };
  }

  /** Where the next line begins; -1 where that is not known yet. */
  #lineEnd(from: number, atEnd: boolean): number {
    const end = this.#text.indexOf('\n', from);
    if (end >= 0) return end + 1;
    return atEnd ? this.#text.length : -1;
  }
}

const withoutBreak = (line: string): string => line.replace(/\r?\n$|\r$/, '');

function countBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
