/**
 * A large JSON body, parsed in parts of about a millisecond. The scan of its structure finds the long values: texts, and arrays
 * and objects with the commas between which they are parsed part by part. A part is parsed with a marker in place of each long
 * value in it.
 */
import { randomBytes } from 'node:crypto';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { bodyBounds } from '../../src/contract/limits.ts';
import { BACKSLASH, NOT_JSON, QUOTE, U } from './json-text.ts';

/** The time that a value takes, in bytes of text: a member or an element takes as long as 128 of them. */
const VALUE_WEIGHT = 128;
/** The weight from which a value is parsed separately: half a millisecond for most, two for escaped texts. */
const PART = 256 * 1024;

/** A value that is parsed separately. */
interface LongValue {
  /** Of its first byte, and after its last. */
  readonly start: number;
  readonly end: number;
  /** Of the commas that separate the parts of an array or an object. */
  readonly cuts: readonly number[];
  /** Inside it, in their order. */
  readonly inner: readonly LongValue[];
}

/** Finds the long values while the structure of a body is scanned. `values`: members and elements until then. */
export class LongValues {
  /** Long values that are not inside another one. */
  readonly outermost: LongValue[] = [];
  /** By depth, of the open objects and arrays: where they begin, their weight there and at their last cut, and the cuts. */
  readonly #starts = new Uint32Array(bodyBounds.depth + 1);
  readonly #before = new Uint32Array(bodyBounds.depth + 1);
  readonly #atCut = new Uint32Array(bodyBounds.depth + 1);
  readonly #cuts: (number[] | undefined)[] = Array.from({ length: bodyBounds.depth + 1 });
  /** The weight of `outermost`, which counts no longer. */
  #taken = 0;

  open(depth: number, at: number, values: number): void {
    this.#starts[depth] = at;
    const weight = this.#weight(at, values);
    this.#before[depth] = weight;
    this.#atCut[depth] = weight;
  }

  comma(depth: number, at: number, values: number): void {
    const weight = this.#weight(at, values);
    if (weight - this.#atCut[depth]! < PART) return;
    this.#cuts[depth] ??= [];
    this.#cuts[depth].push(at);
    this.#atCut[depth] = weight;
  }

  close(depth: number, at: number, values: number): void {
    const cuts = this.#cuts[depth];
    const weight = this.#weight(at, values) - this.#before[depth]!;
    if (cuts === undefined && weight < PART) return;
    this.#take(this.#starts[depth]!, at + 1, cuts ?? [], weight);
    this.#cuts[depth] = undefined;
  }

  /** `start` and `end`: of the quotes. */
  text(start: number, end: number): void {
    if (end - start >= PART) this.#take(start, end + 1, [], end - start);
  }

  #weight(at: number, values: number): number {
    return at + values * VALUE_WEIGHT - this.#taken;
  }

  #take(start: number, end: number, cuts: readonly number[], weight: number): void {
    const first = this.outermost.findLastIndex(value => value.start < start) + 1;
    this.outermost.push({ start, end, cuts, inner: this.outermost.splice(first) });
    this.#taken += weight;
  }
}

/**
 * Random text. With a number, it is the only element of the array that replaces a long value while the rest of its part is parsed. No
 * client knows it, so no body can contain it. An array, because it cannot be a name.
 */
const MARK = randomBytes(16).toString('hex');

/** Parses JSON. Refuses with 1001. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(Code.parameterError, NOT_JSON);
  }
}

/** The value of a body whose long values have been found. */
export function parseBody(body: Buffer, { outermost }: LongValues): Generator<void, unknown> {
  return parsePart(body, { start: 0, end: body.length, inner: outermost, brackets: ['', ''] });
}

/** Bytes of a body, and what is written around them. */
interface JsonPart {
  readonly start: number;
  readonly end: number;
  readonly inner: readonly LongValue[];
  readonly brackets: readonly [string, string];
}

function* parsePart(body: Buffer, { start, end, inner, brackets }: JsonPart): Generator<void, unknown> {
  const texts: string[] = [brackets[0]];
  const values: unknown[] = [];
  let from = start;
  for (const long of inner) {
    texts.push(body.toString('utf8', from, long.start), `["${MARK}${values.length}"]`);
    values.push(yield* parseLong(body, long));
    from = long.end;
  }
  texts.push(body.toString('utf8', from, end), brackets[1]);
  const text = texts.join('');
  yield;
  const value = parse(text);
  yield;
  return values.length > 0 ? withValues(value, values) : value;
}

function parseLong(body: Buffer, long: LongValue): Generator<void, unknown> {
  if (body[long.start] === QUOTE) return parseText(body, long);
  return body[long.start] === 0x5b ? parseArray(body, long) : parseObject(body, long);
}

function* parseText(body: Buffer, { start, end }: LongValue): Generator<void, string> {
  const texts: unknown[] = [];
  for (let from = start + 1; from < end - 1; ) {
    const to = endOfPart(body, from, end - 1);
    texts.push(parse(`"${body.toString('utf8', from, to)}"`));
    from = to;
    yield;
  }
  return texts.join('');
}

/** At most `end`: after a text of about `PART` bytes, between two characters or escapes. */
function endOfPart(body: Buffer, from: number, end: number): number {
  const least = Math.min(from + PART, end);
  let at = from;
  while (at < least) {
    if (body[at] !== BACKSLASH) at++;
    else at += body[at + 1] === U ? 6 : 2;
  }
  while ((body[at]! & 0xc0) === 0x80) at++;
  return Math.min(at, end);
}

function* parseArray(body: Buffer, long: LongValue): Generator<void, unknown[]> {
  const all: unknown[] = [];
  for (const part of partsOf(long, ['[', ']'])) {
    const elements = (yield* parsePart(body, part)) as unknown[];
    requireSome(elements.length, long);
    for (const element of elements) all.push(element);
  }
  return all;
}

function* parseObject(body: Buffer, long: LongValue): Generator<void, unknown> {
  const all = {};
  for (const part of partsOf(long, ['{', '}'])) {
    const members = (yield* parsePart(body, part)) as object;
    requireSome(Object.keys(members).length, long);
    Object.assign(all, members);
  }
  return all;
}

/** Nothing before or after a comma is an error. */
function requireSome(count: number, { cuts }: LongValue): void {
  if (count === 0 && cuts.length > 0) throw new ApiError(Code.parameterError, NOT_JSON);
}

function* partsOf({ start, end, cuts, inner }: LongValue, brackets: JsonPart['brackets']): Generator<JsonPart, void> {
  let from = start + 1;
  let next = 0;
  for (const to of [...cuts, end - 1]) {
    const first = next;
    while (next < inner.length && inner[next]!.start < to) next++;
    yield { start: from, end: to, inner: inner.slice(first, next), brackets };
    from = to + 1;
  }
}

/** Puts the long values in place of their markers. */
function withValues(value: unknown, values: readonly unknown[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const mark = Array.isArray(value) && value.length === 1 ? value[0] : null;
  if (typeof mark === 'string' && mark.startsWith(MARK)) return values[Number(mark.slice(MARK.length))];
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = withValues(members[name], values);
  return value;
}
