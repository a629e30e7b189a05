import { type Bits, bitsFor, hasBit, setBit } from './bits.ts';

/** A set takes fewer bytes as bits from about this share of all numbers on, and is then combined faster too. */
const denseShare = 64;
const leastDense = 256;

/** A set of device numbers: an ascending list while it is small for its numbers, bits from then on. */
export class NumberSet {
  size = 0;
  #list: Uint32Array | null = new Uint32Array(4);
  #bits: Bits | null = null;

  /** From numbers that ascend. */
  static of(numbers: Iterable<number>): NumberSet {
    const set = new NumberSet();
    for (const n of numbers) set.add(n);
    return set;
  }

  /** The members in ascending order; null where it is kept as bits. */
  get list(): Uint32Array | null {
    return this.#list?.subarray(0, this.size) ?? null;
  }

  /** Null where it is kept as a list. */
  get bits(): Bits | null {
    return this.#bits;
  }

  has(n: number): boolean {
    if (this.#bits) return hasBit(this.#bits, n);
    const place = this.#place(n);
    // Behind the last member lies what was there before.
    return place < this.size && this.#list![place] === n;
  }

  add(n: number): void {
    if (this.#bits) this.#addBit(n);
    else this.#insert(n);
  }

  #insert(n: number): void {
    const place = this.#place(n);
    if (place < this.size && this.#list![place] === n) return;
    this.#list = grown(this.#list!, this.size + 1);
    this.#list.copyWithin(place + 1, place, this.size);
    this.#list[place] = n;
    this.size++;
    if (this.size > leastDense && this.size * denseShare > this.#list[this.size - 1]!) this.#toBits();
  }

  delete(n: number): void {
    if (!this.has(n)) return;
    if (this.#bits) this.#bits[n >>> 5]! &= ~(1 << (n & 31));
    else this.#list!.copyWithin(this.#place(n), this.#place(n) + 1, this.size);
    this.size--;
  }

  #addBit(n: number): void {
    if (hasBit(this.#bits!, n)) return;
    this.#bits = grown(this.#bits!, (n >>> 5) + 1);
    setBit(this.#bits, n);
    this.size++;
  }

  #toBits(): void {
    const list = this.list!;
    this.#bits = bitsFor(list[list.length - 1]!);
    for (const n of list) setBit(this.#bits, n);
    this.#list = null;
  }

  /** Where n stands in the list, or would stand. Most additions go to the end. */
  #place(n: number): number {
    const list = this.#list!;
    let [low, high] = [0, this.size];
    if (high === 0 || list[high - 1]! < n) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (list[middle]! < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Growing<T> {
  readonly length: number;
  set(values: T): void;
}

/** An array of at least `length` places that begins with the values given; the same one where it is long enough. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(values: T, length: number): T {
  if (values.length >= length) return values;
  const larger = new (values.constructor as new (length: number) => T & Growing<T>)(Math.ceil(length * 1.25) + 4);
  larger.set(values);
  return larger;
}
