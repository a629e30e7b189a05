/**
 * A strict reader of the CBOR that CTAP2 allows (RFC 8949, canonical form of CTAP2): shortest lengths, definite, no tags and no
 * floats, keys of a map unique, texts valid UTF-8, nothing after the item. Depth and number of items are bounded. It throws
 * MalformedError and nothing else. The drivers and the judge of proofs use it. `docs/decisions/013-keys-and-proofs.md` explains
 * why it is not a package.
 */
import { MalformedError } from './malformed.ts';

/** A value that was read. Integers beyond 2^53 are refused: none occurs in CTAP2. */
export type Cbor = number | string | boolean | null | Uint8Array | readonly Cbor[] | CborMap;
/** A map; its keys are integers or texts. */
export type CborMap = ReadonlyMap<number | string, Cbor>;

/** Largest input in bytes. CTAPHID carries at most 7,609. */
const MAX_INPUT = 64 * 1024;
/** Levels of arrays and maps. CTAP2 uses 4. */
const MAX_DEPTH = 8;
/** Items in one input. */
const MAX_ITEMS = 4096;

const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

const malformed = (problem: string) => new MalformedError('CBOR', problem);

/** The only item of `bytes`. */
export function readCbor(bytes: Uint8Array): Cbor {
  const { value, length } = readFirstCbor(bytes);
  if (length !== bytes.length) throw malformed('bytes follow the item');
  return value;
}

/** The item at the beginning of `bytes`, and how many bytes it takes. */
export function readFirstCbor(bytes: Uint8Array): { value: Cbor; length: number } {
  if (bytes.length > MAX_INPUT) throw malformed(`more than ${MAX_INPUT} bytes`);
  const reader = new CborReader(bytes);
  return { value: reader.item(0), length: reader.at };
}

/** The map if it is one. */
export function expectMap(value: Cbor | undefined, what: string): CborMap {
  if (!(value instanceof Map)) throw new MalformedError(what, 'it is not a map');
  return value;
}

/** The bytes if the value is a byte string. */
export function expectBytes(value: Cbor | undefined, what: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new MalformedError(what, 'it is not a byte string');
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class CborReader {
  readonly #bytes: Uint8Array;
  #items = 0;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  item(depth: number): Cbor {
    if (++this.#items > MAX_ITEMS) throw malformed(`more than ${MAX_ITEMS} items`);
    if (depth > MAX_DEPTH) throw malformed(`nested deeper than ${MAX_DEPTH}`);
    const first = this.#take(1)[0]!;
    const major = first >> 5;
    if (major === MAJOR.simple) return simple(first & 0x1f);
    const argument = this.#argument(first & 0x1f);
    if (major === MAJOR.unsigned) return argument;
    if (major === MAJOR.negative) return negative(argument);
    if (major === MAJOR.bytes) return this.#take(argument);
    if (major === MAJOR.text) return text(this.#take(argument));
    if (major === MAJOR.array) return this.#array(argument, depth + 1);
    if (major === MAJOR.map) return this.#map(argument, depth + 1);
    throw malformed('tags are not allowed');
  }

  #take(length: number): Uint8Array {
    const rest = this.#bytes.length - this.at;
    if (length > rest) throw malformed(`${length} bytes are announced, ${rest} follow`);
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  #argument(code: number): number {
    if (code < 24) return code;
    if (code > 27) throw malformed('indefinite and reserved lengths are not allowed');
    const size = 1 << (code - 24);
    let value = 0;
    for (const byte of this.#take(size)) value = value * 256 + byte;
    if (!Number.isSafeInteger(value)) throw malformed('an integer above 2^53');
    if (value < (size === 1 ? 24 : 256 ** (size / 2))) throw malformed('an integer or a length is not minimal');
    return value;
  }

  #array(length: number, depth: number): Cbor[] {
    this.#expectItems(length);
    return Array.from({ length }, () => this.item(depth));
  }

  #map(length: number, depth: number): CborMap {
    this.#expectItems(length * 2);
    const map = new Map<number | string, Cbor>();
    for (let read = 0; read < length; read++) {
      const key = this.item(depth);
      if (typeof key !== 'number' && typeof key !== 'string') throw malformed('a key that is neither integer nor text');
      if (map.has(key)) throw malformed('a key occurs twice in a map');
      map.set(key, this.item(depth));
    }
    return map;
  }

  /** Refuses a number of items that cannot follow, before memory for them is taken. */
  #expectItems(count: number): void {
    if (count > this.#bytes.length - this.at) throw malformed(`${count} items are announced, but fewer bytes follow`);
  }
}

function negative(argument: number): number {
  const value = -1 - argument;
  if (!Number.isSafeInteger(value)) throw malformed('an integer below -2^53');
  return value;
}

function text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new MalformedError('CBOR', 'a text is not UTF-8', { cause });
  }
}

function simple(code: number): boolean | null {
  if (code === 20) return false;
  if (code === 21) return true;
  if (code === 22) return null;
  throw malformed('floats, undefined and other simple values are not allowed');
}
