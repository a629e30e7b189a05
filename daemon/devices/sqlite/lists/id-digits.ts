import { type Bits, setRange } from './bits.ts';

const prefix = 'dev-';

/** Adds the numbers up to `last` whose id ('dev-' and the number) contains the keyword, without looking at the others. */
export function addIdsWith(bits: Bits, keyword: string, last: number): void {
  if (prefix.includes(keyword)) {
    setRange(bits, 1, last);
    return;
  }
  // No existing id is longer than this.
  if (keyword.length > prefix.length + 15) return;
  const before = keyword.slice(0, firstDigit(keyword));
  const digits = keyword.slice(before.length);
  if (!/^\d{1,15}$/.test(digits) || !prefix.endsWith(before)) return;
  if (before === '') addContaining(bits, digits, last);
  else addStartingWith(bits, digits, last);
}

/** Index of the first digit; the length if there is none. */
function firstDigit(text: string): number {
  const found = text.search(/\d/);
  return found < 0 ? text.length : found;
}

/** Adds the numbers whose decimal digits start with `digits`. */
function addStartingWith(bits: Bits, digits: string, last: number): void {
  if (digits.startsWith('0')) return;
  const value = Number(digits);
  for (let power = 1; value * power <= last; power *= 10)
    setRange(bits, value * power, Math.min((value + 1) * power - 1, last));
}

/** Adds the numbers that contain `digits` anywhere: some digits, then these, then as many more as `power` has zeros. */
function addContaining(bits: Bits, digits: string, last: number): void {
  const value = Number(digits);
  const shift = 10 ** digits.length;
  addStartingWith(bits, digits, last);
  for (let power = 1; shift * power + value * power <= last; power *= 10)
    for (let first = (shift + value) * power; first <= last; first += shift * power)
      setRange(bits, first, Math.min(first + power - 1, last));
}
