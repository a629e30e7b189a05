/** Sets of numbers as bits: bit n of the whole stands for number n; what lies past the end is not in the set. */
export type Bits = Uint32Array;

export const bitsFor = (count: number): Bits => new Uint32Array((count >>> 5) + 1);

export function setBit(bits: Bits, n: number): void {
  bits[n >>> 5]! |= 1 << (n & 31);
}

export const hasBit = (bits: Bits, n: number): boolean => ((bits[n >>> 5] ?? 0) & (1 << (n & 31))) !== 0;

/** Number of bits that are set in a word. */
export function ones(word: number): number {
  let w = word - ((word >>> 1) & 0x55555555);
  w = (w & 0x33333333) + ((w >>> 2) & 0x33333333);
  return Math.imul((w + (w >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Place of the lowest bit of a word that is not 0. */
export const lowest = (word: number): number => 31 - Math.clz32(word & -word);

export function countBits(bits: Bits): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) count += ones(bits[i]!);
  return count;
}

/** Takes the numbers from `from` to `to`, both included. */
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

/** Calls `take` with each number, ascending. */
export function eachBit(bits: Bits, take: (n: number) => void): void {
  for (let i = 0; i < bits.length; i++) for (let w = bits[i]!; w !== 0; w &= w - 1) take((i << 5) + lowest(w));
}
