import { type Bits, bitsFor, hasBit, setBit } from './bits.ts';

/** From one in this many numbers on, a set takes fewer bytes as bits, and combines faster. */
const denseShare = 64;
const leastDense = 256;

/** A set of device numbers: an ascending list while it is sparse, bits from then on. */
export class NumberSet {
  size = 0;
  #list: Uint32Array | null = new Uint32Array(4);
  #bits: Bits | null = null;

  /** `numbers` must ascend. */
  static of(numbers: Iterable<number>): NumberSet {
    const set = new NumberSet();
    for (const n of numbers) set.add(n);
    return set;
  }

  /** The members in ascending order; null if they are stored as bits. */
  get list(): Uint32Array | null {
    return this.#list?.subarray(0, this.size) ?? null;
  }

  /** Null if the members are stored as a list. */
  get bits(): Bits | null {
    return this.#bits;
  }

  has(n: number): boolean {
    if (this.#bits) return hasBit(this.#bits, n);
    const index = this.#indexOf(n);
    // Past the last member, the array holds old values.
    return index < this.size && this.#list![index] === n;
  }

  /** Adds the members to `bits`; those past its end are left out. */
  addTo(bits: Bits): void {
    if (this.#bits) {
      const length = Math.min(bits.length, this.#bits.length);
      for (let i = 0; i < length; i++) bits[i]! |= this.#bits[i]!;
    } else {
      const end = bits.length << 5;
      for (const n of this.list!) if (n < end) setBit(bits, n);
    }
  }

  add(n: number): void {
    if (this.#bits) this.#addBit(n);
    else this.#insert(n);
  }

  #insert(n: number): void {
    const index = this.#indexOf(n);
    if (index < this.size && this.#list![index] === n) return;
    this.#list = grown(this.#list!, this.size + 1);
    this.#list.copyWithin(index + 1, index, this.size);
    this.#list[index] = n;
    this.size++;
    if (this.size > leastDense && this.size * denseShare > this.#list[this.size - 1]!) this.#toBits();
  }

  delete(n: number): void {
    if (!this.has(n)) return;
    if (this.#bits) this.#bits[n >>> 5]! &= ~(1 << (n & 31));
    else this.#list!.copyWithin(this.#indexOf(n), this.#indexOf(n) + 1, this.size);
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

  /** Index of n in the list, or where it belongs. Most additions go to the end. */
  #indexOf(n: number): number {
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

interface GrowableArray<T> {
  readonly length: number;
  set(values: T): void;
}

/** An array with at least `length` elements that starts with the given values; the same array if it is long enough. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(values: T, length: number): T {
  if (values.length >= length) return values;
  const larger = new (values.constructor as new (length: number) => T & GrowableArray<T>)(Math.ceil(length * 1.25) + 4);
  larger.set(values);
  return larger;
}
