import { randomBytes, timingSafeEqual } from 'node:crypto';
import { activationAlphabet } from '../../src/contract/device-fields.ts';

const DAY = 86_400_000;
/** Random bytes are drawn for this many codes at a time: one system call for each would be most of the cost of a batch. */
const POOL = 256;
const SYMBOLS = 16;
let pool = Buffer.alloc(0);
let used = 0;

/** A new code: 16 symbols of 5 random bits each, in four groups. */
export function newActivationCode(): string {
  if (used + SYMBOLS > pool.length) {
    pool = randomBytes(POOL * SYMBOLS);
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

export function expiry(from: number, days: number): number {
  return from + days * DAY;
}

/** Compares in constant time; the code that is given may be in any case. */
export function sameActivationCode(given: string, kept: string): boolean {
  const a = Buffer.from(given.toUpperCase());
  const b = Buffer.from(kept);
  if (a.length !== b.length) {
    timingSafeEqual(b, b);
    return false;
  }
  return timingSafeEqual(a, b);
}
