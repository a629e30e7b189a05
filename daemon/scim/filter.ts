/**
 * Filters and paths of SCIM 2.0 (RFC 7644, sections 3.4.2.2 and 3.5.2). Length, terms and depth are bounded before and while they
 * are read; each character is looked at once.
 */
import { badRequest } from './error.ts';

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
/** How an attribute is compared with a value. */
export type Operator = (typeof operators)[number];
/** Value that an attribute is compared with. */
export type FilterValue = string | number | boolean | null;

/** An attribute, without the schema that may be written before it; in lower case, because names are equal in upper and lower case. */
export interface AttributeName {
  readonly name: string;
  readonly sub: string | null;
}

/** A filter that was read. */
export type Filter =
  | {
      readonly kind: 'compare';
      readonly attribute: AttributeName;
      readonly operator: Operator;
      readonly value: FilterValue;
    }
  | { readonly kind: 'present'; readonly attribute: AttributeName }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  /** One of the values of a multi-valued attribute matches. */
  | { readonly kind: 'value'; readonly attribute: AttributeName; readonly of: Filter };

/** A path of a PATCH. `filter`: of the values of a multi-valued attribute. */
export interface PatchPath extends AttributeName {
  readonly filter: Filter | null;
}

/** Longest filter or path in characters, most comparisons of one, and levels of brackets. */
const bounds = { length: 4096, terms: 64, depth: 16 } as const;

/** The core schemas before the name of an attribute. */
export const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group)(?::|$)/i;
const attributeForm = /^[a-z][a-z0-9_$-]*(?:\.[a-z][a-z0-9_$-]*)?$/i;

/** An attribute of the core schemas; null for one of another schema, which is well formed and not stored. */
function attributeOf(text: string): AttributeName | null {
  const core = text.replace(coreSchema, '');
  if (/^urn:[a-z0-9:._-]+$/i.test(core)) return null;
  if (!attributeForm.test(core)) throw new SyntaxError(`"${text}" is not an attribute`);
  const [name, sub = null] = core.toLowerCase().split('.') as [string, string?];
  return { name, sub };
}

/** An attribute of another schema: nothing has it. */
const foreign: AttributeName = { name: '', sub: null };

/** Characters that end a word. */
const ends = new Set(' ()[]"');

class FilterReader {
  readonly #text: string;
  #at = 0;
  #terms = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    this.#skip();
    return this.#at >= this.#text.length;
  }

  /** `or` binds less than `and`, which binds less than `not`. */
  or(depth = 0): Filter {
    if (depth > bounds.depth) throw new SyntaxError('it has too many levels of brackets');
    return this.#joined('or', () => this.#joined('and', () => this.#term(depth)));
  }

  /** The text of an attribute, and the filter in the brackets after it. */
  path(): { readonly attribute: string; readonly filter: Filter | null } {
    const attribute = this.#word();
    return { attribute, filter: this.#takes('[') ? this.#closed(this.or(1), ']') : null };
  }

  /** Attribute after the brackets of a path: `.sub`, or nothing. */
  sub(): string | null {
    if (!this.#takes('.')) return null;
    return this.#word();
  }

  #joined(kind: 'and' | 'or', next: () => Filter): Filter {
    const of = [next()];
    while (this.#takesWord(kind)) of.push(next());
    return of.length === 1 ? of[0]! : { kind, of };
  }

  #term(depth: number): Filter {
    if (++this.#terms > bounds.terms) throw new SyntaxError('it has too many comparisons');
    if (this.#takes('(')) return this.#closed(this.or(depth + 1), ')');
    const word = this.#word();
    if (word.toLowerCase() === 'not') {
      if (!this.#takes('(')) throw new SyntaxError('"not" needs brackets');
      return { kind: 'not', of: this.#closed(this.or(depth + 1), ')') };
    }
    const attribute = attributeOf(word) ?? foreign;
    if (this.#takes('[')) return { kind: 'value', attribute, of: this.#closed(this.or(depth + 1), ']') };
    const operator = this.#word().toLowerCase();
    if (operator === 'pr') return { kind: 'present', attribute };
    if (!operators.includes(operator as Operator)) throw new SyntaxError(`"${operator}" is not an operator`);
    return { kind: 'compare', attribute, operator: operator as Operator, value: this.#value() };
  }

  #closed(filter: Filter, bracket: string): Filter {
    if (!this.#takes(bracket)) throw new SyntaxError(`"${bracket}" is missing`);
    return filter;
  }

  #value(): FilterValue {
    this.#skip();
    if (this.#text[this.#at] === '"') return this.#quoted();
    const word = this.#word();
    const known = { true: true, false: false, null: null }[word.toLowerCase()];
    if (known !== undefined) return known;
    const number = Number(word);
    if (!/^-?\d[\d.e+-]*$/i.test(word) || !Number.isFinite(number)) throw new SyntaxError(`"${word}" is not a value`);
    return number;
  }

  #quoted(): string {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    const text = this.#text.slice(this.#at, end + 1);
    this.#at = end + 1;
    // Throws a SyntaxError if the quotes or an escape are wrong.
    return JSON.parse(text) as string;
  }

  #word(): string {
    this.#skip();
    const start = this.#at;
    while (this.#at < this.#text.length && !ends.has(this.#text[this.#at]!)) this.#at++;
    if (this.#at === start) throw new SyntaxError('a word is missing');
    return this.#text.slice(start, this.#at);
  }

  #takesWord(word: string): boolean {
    this.#skip();
    const found = this.#text.slice(this.#at, this.#at + word.length);
    const next = this.#text[this.#at + word.length];
    if (found.toLowerCase() !== word || (next !== ' ' && next !== '(')) return false;
    this.#at += word.length;
    return true;
  }

  #takes(character: string): boolean {
    this.#skip();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skip(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }
}

function reading<T>(what: 'filter' | 'path', text: string, read: (reader: FilterReader) => T): T {
  const scimType = what === 'filter' ? 'invalidFilter' : 'invalidPath';
  if (text.length > bounds.length) throw badRequest(scimType, `the ${what} is longer than ${bounds.length} characters`);
  const reader = new FilterReader(text);
  try {
    const found = read(reader);
    if (!reader.isAtEnd) throw new SyntaxError('it continues after its end');
    return found;
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(scimType, `the ${what} cannot be read: ${error.message}`);
    throw error;
  }
}

/** Reads a filter. Refuses with `invalidFilter`. */
export const readFilter = (text: string): Filter => reading('filter', text, reader => reader.or());

/** Reads a path; null if it is well formed and names an attribute of another schema. Refuses with `invalidPath`. */
export const readPath = (text: string): PatchPath | null =>
  reading('path', text, reader => {
    const { attribute, filter } = reader.path();
    const after = filter ? reader.sub() : null;
    const found = attributeOf(attribute);
    if (after !== null && (!attributeForm.test(after) || after.includes('.')))
      throw new SyntaxError(`".${after}" is not an attribute`);
    return found && { name: found.name, sub: after?.toLowerCase() ?? found.sub, filter };
  });
