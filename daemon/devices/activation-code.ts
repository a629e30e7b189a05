import { randomBytes, timingSafeEqual } from 'node:crypto';
import { dayMs } from '../../src/contract/durations.ts';
import { activationAlphabet } from '../../src/contract/values.ts';

/** Random bytes are drawn for this many codes at a time: a system call for each code would be most of the cost of a batch. */
const POOL_CODES = 256;
const SYMBOLS = 16;
let pool = Buffer.alloc(0);
let used = 0;

/** A random code: 16 symbols of 5 bits each, in four groups. */
export function newActivationCode(): string {
  if (used + SYMBOLS > pool.length) {
    pool = randomBytes(POOL_CODES * SYMBOLS);
    used = 0;
  }
  let code = '';
  for (let i = 0; i < SYMBOLS; i++) {
    if (i > 0 && i % 4 === 0) code += '-';
    code += activationAlphabet[pool[used + i]! & 31];
  }
  pool.fill(0, used, used + SYMBOLS);
  used += SYMBOLS;
  return code;
}

/** When a code issued at `from` (milliseconds since 1970) stops being valid. */
export function expiry(from: number, days: number): number {
  return from + days * dayMs;
}

/** Compares in constant time; `given` may be in upper or lower case. */
export function sameActivationCode(given: string, stored: string): boolean {
  const a = Buffer.from(given.toUpperCase());
  const b = Buffer.from(stored);
  if (a.length !== b.length) {
    timingSafeEqual(b, b);
    return false;
  }
  return timingSafeEqual(a, b);
}
