import { type Bits, bitsFor } from './bits.ts';
import { Postings } from './postings.ts';
import { lowerByte, type Serials } from './serials.ts';

/** Letters, digits and signs that serials are made of have a code of their own below 64; all others share one. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789-_.:/';
const end = 0;
const other = alphabet.length + 1;
const codes = new Uint8Array(256).fill(other);
for (const [i, letter] of [...alphabet].entries()) codes[letter.charCodeAt(0)] = i + 1;
for (let byte = 0; byte < 256; byte++) codes[byte] = codes[lowerByte[byte]!]!;

/**
 * For each three characters in a row, the devices whose serial has them. A keyword in the serials of a million devices is found
 * in 0.1 ms where few have it, 20 where most have; reading all serials takes 25 in any case, LIKE 260.
 */
export class Trigrams {
  readonly #serials: Serials;
  readonly #postings: (Postings | undefined)[] = new Array(64 ** 3);
  #last = 0;

  constructor(serials: Serials) {
    this.#serials = serials;
  }

  /** Devices up to this number are in. */
  get last(): number {
    return this.#last;
  }

  /** Takes in the devices up to `last`. Yields now and then. */
  *upTo(last: number): Generator<void, void> {
    while (this.#last < last) {
      const stretch = Math.min(this.#last + 500, last);
      for (let n = this.#last + 1; n <= stretch; n++) this.#add(n);
      this.#last = stretch;
      yield;
    }
  }

  /** Adds the devices up to `last`, which are in, whose serial has the keyword (lower case, not empty) in it. Yields now and then. */
  *find(keyword: Uint8Array, last: number): Generator<void, Bits> {
    const bits = bitsFor(last);
    const letters = Array.from(keyword, byte => codes[byte]!);
    if (keyword.length < 3) yield* this.#findShort(letters, bits);
    else this.#findLong(letters, bits);
    bits[last >>> 5]! &= -1 >>> (31 - (last & 31));
    yield;
    // The lists say which serials have every three letters, not that they stand in a row, nor which of the other signs it is.
    if (keyword.length > 3 || letters.includes(other)) yield* this.#keepThoseWith(keyword, bits);
    return bits;
  }

  #add(n: number): void {
    const { bytes, ends } = this.#serials;
    const stop = ends[n]!;
    let first = ends[n - 1]!;
    let key = ((codes[bytes[first]!]! << 6) | (first + 1 < stop ? codes[bytes[first + 1]!]! : end)) & 4095;
    // Behind the serial stand two ends, so that its last letters begin something as well.
    for (; first < stop; first++) {
      const third = first + 2 < stop ? codes[bytes[first + 2]!]! : end;
      key = ((key << 6) | third) & 262_143;
      const postings = this.#postings[key];
      if (postings) postings.add(n);
      else this.#postings[key] = new Postings(n);
    }
  }

  /** One or two letters: everything that begins with them. */
  *#findShort(letters: readonly number[], bits: Bits): Generator<void, void> {
    const span = letters.length === 1 ? 4096 : 64;
    const first = letters.reduce((key, code) => key * 64 + code, 0) * span;
    for (let key = first; key < first + span; key++) {
      this.#postings[key]?.addTo(bits);
      if (key % 64 === 63) yield;
    }
  }

  #findLong(letters: readonly number[], bits: Bits): void {
    const lists: Postings[] = [];
    for (let i = 0; i + 2 < letters.length; i++) {
      const list = this.#postings[(letters[i]! << 12) | (letters[i + 1]! << 6) | letters[i + 2]!];
      if (!list) return;
      lists.push(list);
    }
    const [rarest, ...rest] = lists.sort((a, b) => a.count - b.count);
    rarest!.addTo(bits);
    for (const list of rest) list.keepIn(bits);
  }

  *#keepThoseWith(keyword: Uint8Array, bits: Bits): Generator<void, void> {
    const serials = this.#serials;
    for (let i = 0; i < bits.length; i++) {
      if (i % 512 === 511) yield;
      let word = bits[i]!;
      if (word === 0) continue;
      const base = i << 5;
      for (let left = word; left !== 0; left &= left - 1) {
        const bit = 31 - Math.clz32(left & -left);
        if (!serials.includes(base + bit, keyword)) word &= ~(1 << bit);
      }
      bits[i] = word;
    }
  }
}
