/** Takes the elements of a JSON array, or the values of JSON lines, one by one out of a stream. */
import type { Place } from './line-number.ts';

/** `line` is the one in which it begins. */
export interface JsonElement extends Place {
  readonly text: string;
}

/** One value a line; empty lines are passed over. */
export async function* readJsonLines(chunks: AsyncIterable<string>): AsyncGenerator<JsonElement> {
  let rest = '';
  let line = 1;
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      if (text.trim() !== '') yield { line, text };
      line++;
    }
  }
  if (rest.trim() !== '') yield { line, text: rest };
}

/** The input is no JSON array; `line` is where that shows. */
export class NoArray extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** The elements of the one array that the input is. They are cut out by their brackets and quotes, and parsed by the caller. */
export async function* readJsonArray(chunks: AsyncIterable<string>): AsyncGenerator<JsonElement> {
  const cutter = new Cutter();
  for await (const chunk of chunks) yield* cutter.take(chunk);
  cutter.end();
}

const place = { before: 0, inside: 1, after: 2 } as const;

class Cutter {
  #state: number = place.before;
  #line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #text = '';
  #startLine = 0;
  #items = 0;
  #comma = false;

  *take(chunk: string): Generator<JsonElement> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const symbol = chunk[at]!;
      if (symbol === '\n') this.#line++;
      if (this.#state !== place.inside) {
        this.#outside(symbol);
        from = at + 1;
        continue;
      }
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (symbol === '\\') this.#escaped = true;
        else if (symbol === '"') this.#inString = false;
        continue;
      }
      if (symbol === '"') this.#inString = true;
      else if (symbol === '{' || symbol === '[') this.#depth++;
      else if ((symbol === '}' || symbol === ']') && this.#depth > 0) this.#depth--;
      else if (this.#depth === 0 && (symbol === ',' || symbol === ']')) {
        yield* this.#element(this.#text + chunk.slice(from, at), symbol);
        from = at + 1;
        continue;
      }
      if (this.#startLine === 0 && symbol.trim() !== '') this.#startLine = this.#line;
    }
    if (this.#state === place.inside) this.#text += chunk.slice(from);
  }

  #outside(symbol: string): void {
    if (symbol.trim() === '') return;
    if (this.#state === place.after) throw new NoArray('something follows the end of the JSON array', this.#line);
    if (symbol !== '[') throw new NoArray('a JSON array is wanted: it begins with [', this.#line);
    this.#state = place.inside;
  }

  *#element(text: string, end: string): Generator<JsonElement> {
    const line = this.#startLine || this.#line;
    this.#text = '';
    this.#startLine = 0;
    const isEmpty = text.trim() === '';
    if (isEmpty && (end === ',' || this.#comma)) throw new NoArray('an element of the JSON array is missing', line);
    this.#comma = end === ',';
    if (end === ']') this.#state = place.after;
    if (!isEmpty) yield { line, item: ++this.#items, text };
  }

  end(): void {
    if (this.#state === place.before) throw new NoArray('a JSON array is wanted, and there is nothing', this.#line);
    if (this.#state === place.inside) throw new NoArray('the JSON array is not closed: the end is missing', this.#line);
  }
}
