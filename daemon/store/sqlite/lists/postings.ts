import { type Bits, bitsFor, setBit } from './bits.ts';
import { grown } from './number-set.ts';

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
