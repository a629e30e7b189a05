/** Reads the elements of a JSON array, or the values of JSON lines, one by one from a stream. */
import { InvalidInput } from './fault.ts';
import type { Position } from './row.ts';
import { checkLength } from './text.ts';

/** The text of one value, not parsed yet. `line` is where it starts. */
export interface JsonElement extends Position {
  readonly text: string;
}

/** One value per line. Blank lines count but are skipped. Throws `TooLong`. */
export async function* readJsonLines(chunks: AsyncIterable<string>): AsyncGenerator<JsonElement> {
  let rest = '';
  let line = 1;
  for await (const chunk of chunks) {
    const parts = chunk.split('\n');
    const start = parts.pop()!;
    for (const part of parts) {
      const text = rest + part;
      rest = '';
      if (text.trim() !== '') yield { line, text };
      line++;
    }
    rest += start;
    checkLength(rest, `line ${line}`);
  }
  if (rest.trim() !== '') yield { line, text: rest };
}

/** The fault of an input that is not a valid JSON array; `line` is where the reader noticed it. */
const invalidArray = (problem: string, line: number): InvalidInput =>
  new InvalidInput({ what: 'array', line, problem });

/** The elements of an array, split at brackets, quotes and commas, for the caller to parse. Throws `InvalidInput` and `TooLong`. */
export async function* readJsonArray(chunks: AsyncIterable<string>): AsyncGenerator<JsonElement> {
  const splitter = new ArraySplitter();
  for await (const chunk of chunks) yield* splitter.read(chunk);
  splitter.end();
}

const states = { before: 0, inside: 1, after: 2 } as const;

class ArraySplitter {
  #state: number = states.before;
  #line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #text = '';
  #startLine = 0;
  #items = 0;
  #comma = false;

  *read(chunk: string): Generator<JsonElement> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const symbol = chunk[at]!;
      if (symbol === '\n') this.#line++;
      if (this.#state !== states.inside) {
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
    if (this.#state === states.inside) this.#text += chunk.slice(from);
    checkLength(this.#text, `the element in line ${this.#startLine || this.#line}`);
  }

  #outside(symbol: string): void {
    if (symbol.trim() === '') return;
    if (this.#state === states.after) throw invalidArray('text follows the end of the JSON array', this.#line);
    if (symbol !== '[') throw invalidArray('expected a JSON array, which starts with [', this.#line);
    this.#state = states.inside;
  }

  *#element(text: string, end: string): Generator<JsonElement> {
    const line = this.#startLine || this.#line;
    this.#text = '';
    this.#startLine = 0;
    const isEmpty = text.trim() === '';
    if (isEmpty && (end === ',' || this.#comma)) throw invalidArray('an element of the JSON array is missing', line);
    this.#comma = end === ',';
    if (end === ']') this.#state = states.after;
    if (!isEmpty) yield { line, item: ++this.#items, text };
  }

  end(): void {
    if (this.#state === states.before) throw invalidArray('expected a JSON array, but the input is empty', this.#line);
    if (this.#state === states.inside)
      throw invalidArray('the JSON array is not closed: its end is missing', this.#line);
  }
}
