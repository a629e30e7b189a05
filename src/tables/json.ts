/** Reads the elements of a JSON array, or the values of JSON lines, one by one from a stream. */
import { isObject } from '../contract/json-object.ts';
import { InvalidInput } from './fault.ts';
import type { Position, RawRow, RawRows } from './raw.ts';
import { checkLength, linesOf } from './text.ts';

/** One value per line. Blank lines count but are skipped. Throws `TooLong`. */
export async function* readJsonLines(chunks: AsyncIterable<string>): RawRows {
  for await (const lines of linesOf(chunks))
    yield lines.flatMap(({ line, text }) => (text.trim() === '' ? [] : [rowOf({ line }, text)]));
}

function rowOf(position: Position, text: string): RawRow {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { position, object: value } : { position, problem: 'a JSON object is required' };
  } catch {
    return { position, problem: 'not valid JSON' };
  }
}

/** The fault of an input that is not a valid JSON array; `line` is where the reader noticed it. */
const invalidArray = (problem: string, line: number): InvalidInput =>
  new InvalidInput({ what: 'array', line, problem });

/** Where the array of objects within an object begins: UTF-16 units before it, and objects that are open there. */
export interface Wrapper {
  readonly offset: number;
  readonly depth: number;
}

/**
 * The elements of an array, or with `wrapper` of the one array of objects within an object (`{"hosts": […]}`), split at brackets, quotes
 * and commas. Throws `InvalidInput` and `TooLong`.
 */
export async function* readJsonArray(chunks: AsyncIterable<string>, wrapper: Wrapper | null = null): RawRows {
  const splitter = new ArraySplitter(wrapper);
  for await (const chunk of chunks) yield splitter.read(chunk);
  splitter.end();
}

/** The array of objects in an object, unless the object is a row: `isField` is whether a row has this property. Else null. */
export function wrapperOf(start: string, isField: (name: string) => boolean): Wrapper | null {
  let depth = 0;
  for (let at = 0; at < start.length; at++) {
    const symbol = start[at]!;
    const after = () => start.slice(at + 1, at + 100).trimStart();
    if (symbol === '"') {
      const end = stringEnd(start, at);
      const name = start.slice(at + 1, end);
      at = end;
      if (after().startsWith(':') && isField(name)) return null;
    } else if (symbol === '[' && after().startsWith('{')) return depth > 0 ? { offset: at, depth } : null;
    else if (symbol === '{') depth++;
    else if (symbol === '}' && --depth === 0) return null;
  }
  return null;
}

/** Where the string that begins at `start` ends. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

const states = { before: 0, inside: 1, after: 2 } as const;

class ArraySplitter {
  #state: number = states.before;
  #line = 1;
  #depth = 0;
  /** Objects that are open around the array. */
  #around: number;
  /** UTF-16 units before the array. */
  #before: number;
  #inString = false;
  #escaped = false;
  #text = '';
  #startLine = 0;
  #items = 0;
  #comma = false;

  constructor(wrapper: Wrapper | null) {
    this.#around = wrapper?.depth ?? 0;
    this.#before = wrapper?.offset ?? 0;
  }

  read(chunk: string): readonly RawRow[] {
    const rows: RawRow[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const symbol = chunk[at]!;
      if (symbol === '\n') this.#line++;
      if (this.#before > 0) {
        this.#before--;
        continue;
      }
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (symbol === '\\') this.#escaped = true;
        else if (symbol === '"') this.#inString = false;
        continue;
      }
      if (this.#state !== states.inside) {
        this.#outside(
          symbol,
          chunk
            .slice(at + 1, at + 100)
            .trimStart()
            .charAt(0),
        );
        from = at + 1;
        continue;
      }
      if (symbol === '"') this.#inString = true;
      else if (symbol === '{' || symbol === '[') this.#depth++;
      else if ((symbol === '}' || symbol === ']') && this.#depth > 0) this.#depth--;
      else if (this.#depth === 0 && (symbol === ',' || symbol === ']')) {
        rows.push(...this.#element(this.#text + chunk.slice(from, at), symbol));
        from = at + 1;
        continue;
      }
      if (this.#startLine === 0 && symbol.trim() !== '') this.#startLine = this.#line;
    }
    if (this.#state === states.inside) this.#text += chunk.slice(from);
    checkLength(this.#text, `the element in line ${this.#startLine || this.#line}`);
    return rows;
  }

  #outside(symbol: string, next: string): void {
    if (symbol.trim() === '') return;
    if (this.#state === states.before) {
      if (symbol !== '[') throw invalidArray('expected a JSON array, which starts with [', this.#line);
      this.#state = states.inside;
    } else if (this.#around === 0) throw invalidArray('text follows the end of the JSON array', this.#line);
    else if (symbol === '"') this.#inString = true;
    else if (symbol === '{') this.#around++;
    else if (symbol === '}') this.#around--;
    else if (symbol === '[' && next === '{')
      throw invalidArray('the object has a second array of objects: give the one with the rows alone', this.#line);
  }

  *#element(text: string, end: string): Generator<RawRow> {
    const line = this.#startLine || this.#line;
    this.#text = '';
    this.#startLine = 0;
    const isEmpty = text.trim() === '';
    if (isEmpty && (end === ',' || this.#comma)) throw invalidArray('an element of the JSON array is missing', line);
    this.#comma = end === ',';
    if (end === ']') this.#state = states.after;
    if (!isEmpty) yield rowOf({ line, item: ++this.#items }, text);
  }

  end(): void {
    if (this.#state === states.before) throw invalidArray('expected a JSON array, but the input is empty', this.#line);
    if (this.#state === states.inside || this.#around > 0)
      throw invalidArray('the JSON array is not closed: its end is missing', this.#line);
  }
}
