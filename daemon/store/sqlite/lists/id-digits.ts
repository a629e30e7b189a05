import { type Bits, setRange } from './bits.ts';

const prefix = 'dev-';

/** Adds the numbers up to `last` whose id ('dev-' and the number) has the keyword in it, without looking at the others. */
export function addIdsWith(bits: Bits, keyword: string, last: number): void {
  if (prefix.includes(keyword)) {
    setRange(bits, 1, last);
    return;
  }
  // Nothing longer than this is an id that exists.
  if (keyword.length > prefix.length + 15) return;
  const before = keyword.slice(0, firstDigit(keyword));
  const digits = keyword.slice(before.length);
  if (!/^\d{1,15}$/.test(digits) || !prefix.endsWith(before)) return;
  if (before === '') addContaining(bits, digits, last);
  else addBeginning(bits, digits, last);
}

/** Index of the first digit; the length where there is none. */
function firstDigit(text: string): number {
  const found = text.search(/\d/);
  return found < 0 ? text.length : found;
}

/** Numbers whose decimal digits begin with these. */
function addBeginning(bits: Bits, digits: string, last: number): void {
  if (digits.startsWith('0')) return;
  const value = Number(digits);
  for (let power = 1; value * power <= last; power *= 10)
    setRange(bits, value * power, Math.min((value + 1) * power - 1, last));
}

/** Numbers that have these digits anywhere: each is some digits, these, and as many more as `power` has zeros. */
function addContaining(bits: Bits, digits: string, last: number): void {
  const value = Number(digits);
  const shift = 10 ** digits.length;
  addBeginning(bits, digits, last);
  for (let power = 1; shift * power + value * power <= last; power *= 10)
    for (let first = (shift + value) * power; first <= last; first += shift * power)
      setRange(bits, first, Math.min(first + power - 1, last));
}
