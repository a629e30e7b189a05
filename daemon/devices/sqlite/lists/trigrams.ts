import { type Bits, bitsFor, setBit } from './bits.ts';
import { grown } from './number-set.ts';
import { lowerByte, type Serials } from './serials.ts';

/** Each character that serial numbers consist of has its own code below 64; all others share one. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789-_.:/';
const end = 0;
const other = alphabet.length + 1;
const codes = new Uint8Array(256).fill(other);
for (const [i, letter] of [...alphabet].entries()) codes[letter.charCodeAt(0)] = i + 1;
for (let byte = 0; byte < 256; byte++) codes[byte] = codes[lowerByte[byte]!]!;

/**
 * For every three characters in a row, the devices whose serial number contains them. Among a million devices, a rare keyword
 * is found in 0.1 ms and a frequent one in 20; reading all serial numbers always takes 25, LIKE 260.
 */
export class Trigrams {
  readonly #serials: Serials;
  /** By the first two characters, then by the third. One array for all would take 2 MB, also without devices. */
  readonly #postings: ((Postings | undefined)[] | undefined)[] = new Array(64 ** 2);
  #last = 0;

  constructor(serials: Serials) {
    this.#serials = serials;
  }

  /** Devices up to this number are included. */
  get last(): number {
    return this.#last;
  }

  /** Adds the devices up to `last`. Yields regularly. */
  *upTo(last: number): Generator<void, void> {
    while (this.#last < last) {
      const stretch = Math.min(this.#last + 500, last);
      for (let n = this.#last + 1; n <= stretch; n++) this.#add(n);
      this.#last = stretch;
      yield;
    }
  }

  /** Devices up to `last` (which must be included) whose serial number contains the keyword (lower case, not empty). Yields. */
  *find(keyword: Uint8Array, last: number): Generator<void, Bits> {
    const bits = bitsFor(last);
    const letters = Array.from(keyword, byte => codes[byte]!);
    if (keyword.length < 3) yield* this.#findShort(letters, bits);
    else this.#findLong(letters, bits);
    bits[last >>> 5]! &= -1 >>> (31 - (last & 31));
    yield;
    // The lists show which serial numbers have all the trigrams, but not that they follow each other, nor which other character it is.
    if (keyword.length > 3 || letters.includes(other)) yield* this.#keepMatching(keyword, bits);
    return bits;
  }

  #add(n: number): void {
    const { bytes, ends } = this.#serials;
    const stop = ends[n]!;
    let first = ends[n - 1]!;
    let key = ((codes[bytes[first]!]! << 6) | (first + 1 < stop ? codes[bytes[first + 1]!]! : end)) & 4095;
    // Two end marks follow the serial number, so that its last characters also start a trigram.
    for (; first < stop; first++) {
      const third = first + 2 < stop ? codes[bytes[first + 2]!]! : end;
      key = ((key << 6) | third) & 262_143;
      this.#postings[key >>> 6] ??= new Array(64);
      const row = this.#postings[key >>> 6]!;
      const postings = row[key & 63];
      if (postings) postings.add(n);
      else row[key & 63] = new Postings(n);
    }
  }

  /** One or two characters: every trigram that starts with them. */
  *#findShort([first, second]: readonly number[], bits: Bits): Generator<void, void> {
    const begin = first! * 64 + (second ?? 0);
    const end = second === undefined ? begin + 64 : begin + 1;
    for (const row of this.#postings.slice(begin, end)) {
      for (const postings of row ?? []) postings?.addTo(bits);
      yield;
    }
  }

  #findLong(letters: readonly number[], bits: Bits): void {
    const lists: Postings[] = [];
    for (let i = 0; i + 2 < letters.length; i++) {
      const list = this.#postings[(letters[i]! << 6) | letters[i + 1]!]?.[letters[i + 2]!];
      if (!list) return;
      lists.push(list);
    }
    const [rarest, ...rest] = lists.sort((a, b) => a.count - b.count);
    rarest!.addTo(bits);
    for (const list of rest) list.keepIn(bits);
  }

  *#keepMatching(keyword: Uint8Array, bits: Bits): Generator<void, void> {
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

/** From one in this many numbers on, bits take fewer bytes than distances. */
const denseShare = 8;
const leastDense = 256;

/** An ascending list that only grows at the end: stored as distances of one or two bytes, as bits once it is dense. */
export class Postings {
  count = 1;
  #last: number;
  #length = 0;
  #distances: Uint8Array | null = new Uint8Array(4);
  #bits: Bits | null = null;

  constructor(first: number) {
    this.#last = 0;
    this.#append(first);
  }

  /** `n` must not be below the last number. */
  add(n: number): void {
    if (n === this.#last) return;
    this.count++;
    if (this.#bits) {
      this.#bits = grown(this.#bits, (n >>> 5) + 1);
      setBit(this.#bits, n);
      this.#last = n;
      return;
    }
    this.#append(n);
    if (this.count > leastDense && this.count * denseShare > n) this.#toBits();
  }

  /** Adds the numbers to `bits`, up to its end. */
  addTo(bits: Bits): void {
    if (this.#bits) {
      const own = this.#bits;
      const length = Math.min(bits.length, own.length);
      for (let i = 0; i < length; i++) bits[i]! |= own[i]!;
      return;
    }
    const distances = this.#distances!;
    const end = bits.length << 5;
    for (let i = 0, n = 0; i < this.#length; ) {
      let byte = distances[i++]!;
      let distance = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = distances[i++]!;
        distance |= (byte & 127) << shift;
      }
      n += distance;
      if (n >= end) return;
      bits[n >>> 5]! |= 1 << (n & 31);
    }
  }

  /** Removes all other numbers from `bits` if that is cheap: some of them may remain. */
  keepIn(bits: Bits): void {
    const own = this.#bits;
    if (!own) return;
    const length = Math.min(bits.length, own.length);
    for (let i = 0; i < length; i++) bits[i]! &= own[i]!;
    bits.fill(0, length);
  }

  #append(n: number): void {
    const distances = grown(this.#distances!, this.#length + 5);
    let rest = n - this.#last;
    for (; rest > 127; rest >>>= 7) distances[this.#length++] = (rest & 127) | 128;
    distances[this.#length++] = rest;
    this.#distances = distances;
    this.#last = n;
  }

  #toBits(): void {
    const bits = bitsFor(this.#last);
    this.addTo(bits);
    this.#bits = bits;
    this.#distances = null;
  }
}
