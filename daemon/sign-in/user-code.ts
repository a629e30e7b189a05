import { activationAlphabet } from '../../src/contract/values.ts';

/** Symbols of a code. */
export const userCodeSymbols = 8;

/** A code that people compare or type: 40 bits of `bytes`, which are at least eight, in two groups. */
export function userCodeOf(bytes: Uint8Array): string {
  const symbols = Array.from(bytes.subarray(0, userCodeSymbols), byte => activationAlphabet[byte & 31]).join('');
  return `${symbols.slice(0, userCodeSymbols / 2)}-${symbols.slice(userCodeSymbols / 2)}`;
}
