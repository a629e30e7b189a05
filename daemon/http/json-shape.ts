/**
 * Bounds on the structure of a JSON body, checked before it is parsed: the parser needed five seconds for a body of the maximum
 * size that consists of brackets, and one second for one of distinct names (measured); all other requests waited. One scan of the
 * bytes that allocates nothing per value: 2 ns a byte (measured). What is not JSON is left to the parser, except that brackets
 * must match.
 */
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { RouteShape } from '../../src/contract/define.ts';
import { EACH, TAGS } from '../../src/contract/fields.ts';
import { bodyBounds } from '../../src/contract/limits.ts';
import { LongValues } from './json-parts.ts';
import * as bytes from './json-text.ts';

/** Bounds of the body of an operation. */
export interface ShapeBounds {
  /** Members and elements in all. */
  readonly values: number;
  /** Characters of a name; `bodyBounds.name` if absent. */
  readonly name?: number;
  /** Present if the body is a batch. */
  readonly items?: ItemBounds;
  /** Whether a body with U+0000 is read and marked with `UNREADABLE`, because a part of it counts whatever the rest is. */
  readonly marksNull?: boolean;
}

/** The items of a batch, as far as the contract describes them: they do not count beyond `values`. */
interface ItemBounds {
  /** Member of the body that has the items. */
  readonly name: string;
  readonly written: Buffer;
  readonly most: number;
  readonly fields: readonly Buffer[];
  /** The field with tags, and how many these may be. */
  readonly tags: Buffer | null;
  readonly mostTags: number;
}

/** Facts that the parser needs about a body within the bounds. */
interface BodyShape {
  /** Whether a text, or the name of a member, contains U+0000. */
  readonly hasNull: boolean;
}

type ItemSchema = {
  readonly maxItems?: number;
  readonly items?: { readonly properties?: Readonly<Record<string, object>> };
};

/** The bounds that the contract states for the body of an operation. */
export function shapeBounds(shape: RouteShape | undefined): ShapeBounds {
  const values = shape?.bodyValues ?? bodyBounds.values;
  const name = shape?.batchOf;
  if (name === undefined) return { values };
  const array = shape!.body!.properties[name] as ItemSchema & { [EACH]?: true };
  const fields = Object.entries(array.items!.properties!);
  const tags = fields.find(([, field]) => TAGS in field);
  const items = {
    name,
    written: Buffer.from(name),
    most: array.maxItems!,
    fields: fields.map(([field]) => Buffer.from(field)),
    tags: tags ? Buffer.from(tags[0]) : null,
    mostTags: (tags?.[1] as { maxProperties?: number } | undefined)?.maxProperties ?? 0,
  };
  return { values, items };
}

/** Rejects a body beyond the bounds with 1001. */
export function checkShape(body: Buffer, bounds: ShapeBounds): BodyShape {
  const scan = new ShapeScan(body, bounds, shared);
  scan.advance(body.length);
  scan.end();
  return scan;
}

/** Bytes that are looked at in one step. */
const STEP = 256 * 1024;

/** Like `checkShape`, in steps of half a millisecond, of a few if every byte is a quote. Finds the long values, too. */
export function* checkShapeInSteps(
  body: Buffer,
  bounds: ShapeBounds,
): Generator<void, BodyShape & { readonly long: LongValues }> {
  const long = new LongValues();
  const scan = new ShapeScan(body, bounds, new Levels(), long);
  for (let limit = STEP; limit < body.length; limit += STEP) {
    scan.advance(limit);
    yield;
  }
  scan.advance(body.length);
  scan.end();
  return { hasNull: scan.hasNull, long };
}

/** The open objects and arrays, by depth: what they are, and how many members they have. */
class Levels {
  readonly isObject = new Uint8Array(bodyBounds.depth + 1);
  readonly members = new Uint16Array(bodyBounds.depth + 1);
}
/** Of all scans that are made in one step. */
const shared = new Levels();

const PROTO = Buffer.from('__proto__');

class ShapeScan implements BodyShape {
  hasNull = false;
  readonly #body: Buffer;
  readonly #bounds: ShapeBounds;
  readonly #levels: Levels;
  readonly #long: LongValues | undefined;
  #at = 0;
  /** Whether the text that begins at `#textStart` has not ended yet. */
  #inText = false;
  #textStart = 0;
  #depth = 0;
  /** Members and elements, and those of them that are items of a batch, their fields and tags. */
  #values = 0;
  #described = 0;
  #items = 0;
  /** Whether the next text is the name of a member, and whether the next value is the first element of an array. */
  #isName = false;
  #isFirst = false;
  /** Whether the member of the body that is being read has the items; whether that of the item has its tags. */
  #inItems = false;
  #inTags = false;

  constructor(body: Buffer, bounds: ShapeBounds, levels: Levels, long?: LongValues) {
    this.#body = body;
    this.#bounds = bounds;
    this.#levels = levels;
    this.#long = long;
  }

  /** Looks at the bytes from where the last call has ended to `limit`. */
  advance(limit: number): void {
    const body = this.#body;
    let at = this.#at;
    if (this.#inText) at = this.#text(at, limit);
    for (; at < limit; at++) {
      switch (body[at]) {
        case bytes.SPACE:
        case bytes.LINE_FEED:
        case bytes.CARRIAGE_RETURN:
        case bytes.TAB:
        case bytes.COLON:
          break;
        case bytes.QUOTE:
          this.#textStart = at + 1;
          at = this.#text(at + 1, limit) - 1;
          break;
        case bytes.COMMA:
          this.#comma(at);
          break;
        case bytes.OPENING_BRACE:
          this.#open(1, at);
          break;
        case bytes.OPENING_BRACKET:
          this.#open(0, at);
          break;
        case bytes.CLOSING_BRACE:
          this.#close(1, at);
          break;
        case bytes.CLOSING_BRACKET:
          this.#close(0, at);
          break;
        default:
          if (this.#isFirst) this.#element();
          at = bytes.endOfWord(body, at, limit);
      }
    }
    this.#at = at;
  }

  /** Refuses a body whose last text, array or object is still open. */
  end(): void {
    if (this.#depth > 0 || this.#inText) throw new ApiError(Code.parameterError, bytes.NOT_JSON);
  }

  /** Returns the position after the text, or, at `limit` or later, the position to continue from. */
  #text(from: number, limit: number): number {
    if (this.#isFirst) this.#element();
    const end = bytes.endOfText(this.#body, from, limit, this);
    this.#inText = end >= limit;
    if (this.#inText) return end;
    this.#long?.text(this.#textStart - 1, end);
    if (this.#isName) this.#member(this.#textStart, end);
    return end + 1;
  }

  #open(kind: 0 | 1, at: number): void {
    if (this.#isFirst) this.#element();
    const depth = ++this.#depth;
    if (depth > bodyBounds.depth)
      throw new ApiError(Code.parameterError, `the body is nested deeper than ${bodyBounds.depth} levels`);
    this.#levels.isObject[depth] = kind;
    this.#levels.members[depth] = 0;
    this.#isName = kind === 1;
    this.#isFirst = kind === 0;
    this.#long?.open(depth, at, this.#values);
  }

  #close(kind: 0 | 1, at: number): void {
    if (this.#depth === 0 || this.#levels.isObject[this.#depth] !== kind)
      throw new ApiError(Code.parameterError, bytes.NOT_JSON);
    this.#long?.close(this.#depth, at, this.#values);
    this.#depth--;
    this.#isName = false;
    this.#isFirst = false;
  }

  #comma(at: number): void {
    const depth = this.#depth;
    this.#isName = this.#levels.isObject[depth] === 1;
    if (depth === 0) return;
    if (!this.#isName) this.#element();
    this.#long?.comma(depth, at, this.#values);
  }

  #element(): void {
    this.#isFirst = false;
    const { items } = this.#bounds;
    const isItem = this.#inItems && this.#depth === 2 && items !== undefined && ++this.#items <= items.most;
    this.#count(isItem);
  }

  #member(start: number, end: number): void {
    this.#isName = false;
    const body = this.#body;
    const depth = this.#depth;
    const number = ++this.#levels.members[depth]!;
    if (number > bodyBounds.members)
      throw new ApiError(Code.parameterError, `an object of the body has more than ${bodyBounds.members} members`);
    const { name = bodyBounds.name } = this.#bounds;
    if (bytes.isLonger(body, start, end, name))
      throw new ApiError(Code.parameterError, `a name of a member of the body is longer than ${name} characters`);
    if (bytes.isText(body, start, end, PROTO))
      throw new ApiError(Code.parameterError, '__proto__ is not allowed in a body');
    this.#count(this.#bounds.items !== undefined && this.#isDescribed(start, end, number, this.#bounds.items));
  }

  /** Whether a member is what the contract describes: a field of an item, or one of its tags. */
  #isDescribed(start: number, end: number, number: number, items: ItemBounds): boolean {
    const body = this.#body;
    if (this.#depth === 1) {
      this.#inItems = bytes.isText(body, start, end, items.written);
      return this.#inItems;
    }
    if (!this.#inItems || this.#levels.isObject[2] === 1) return false;
    if (this.#depth === 4) return this.#inTags && this.#levels.isObject[3] === 1 && number <= items.mostTags;
    if (this.#depth !== 3) return false;
    this.#inTags = items.tags !== null && bytes.isText(body, start, end, items.tags);
    if (number > items.fields.length) return false;
    for (const field of items.fields) if (bytes.isText(body, start, end, field)) return true;
    return false;
  }

  #count(isDescribed: boolean): void {
    this.#values++;
    if (isDescribed) this.#described++;
    const { values } = this.#bounds;
    if (this.#values > values && this.#values - this.#described > bodyBounds.values)
      throw new ApiError(Code.parameterError, `the body has more than ${values} members and elements`);
  }
}
