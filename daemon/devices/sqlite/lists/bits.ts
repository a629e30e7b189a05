/** A set of numbers as bits: bit n stands for number n. Numbers past the end are not in the set. */
export type Bits = Uint32Array;

/** Room for the numbers up to `count`. */
export const bitsFor = (count: number): Bits => new Uint32Array((count >>> 5) + 1);

/** Adds a number. */
export function setBit(bits: Bits, n: number): void {
  bits[n >>> 5]! |= 1 << (n & 31);
}

/** Whether the set contains the number. */
export const hasBit = (bits: Bits, n: number): boolean => ((bits[n >>> 5] ?? 0) & (1 << (n & 31))) !== 0;

/** How many bits of a word are set. */
export function ones(word: number): number {
  let w = word - ((word >>> 1) & 0x55555555);
  w = (w & 0x33333333) + ((w >>> 2) & 0x33333333);
  return Math.imul((w + (w >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Position of the lowest bit that is set, in a word that is not 0. */
export const lowest = (word: number): number => 31 - Math.clz32(word & -word);

/** The numbers that are in every one of the sets, in the first of them; null if there are no sets. */
export function combined(sets: readonly Bits[]): Bits | null {
  const [first, ...rest] = sets;
  if (!first) return null;
  for (const set of rest) for (let i = 0; i < first.length; i++) first[i]! &= set[i] ?? 0;
  return first;
}

/** How many numbers are in the set. */
export function countBits(bits: Bits): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) count += ones(bits[i]!);
  return count;
}

/** Adds the numbers from `from` to `to`, both included. */
export function setRange(bits: Bits, from: number, to: number): void {
  if (from > to) return;
  const [first, last] = [from >>> 5, to >>> 5];
  const head = -1 << (from & 31);
  const tail = -1 >>> (31 - (to & 31));
  if (first === last) {
    bits[first]! |= head & tail;
    return;
  }
  bits[first]! |= head;
  bits.fill(0xffffffff, first + 1, last);
  bits[last]! |= tail;
}

/** The first index from `from` on for which `isBefore` is false; `to` if there is none. The indexes for which it is true come first. */
export function firstFrom(from: number, to: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
