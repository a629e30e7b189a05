/** The text of a service token: its prefix, 256 random bits, and the CRC-32 of both, each in base62. */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { serviceTokenPrefix } from '../../src/contract/values.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BYTES = 32;
/** Digits that hold 256 bits. */
const RANDOM_DIGITS = 43;
/** Digits that hold 32 bits. */
const CHECK_DIGITS = 6;
const LENGTH = serviceTokenPrefix.length + RANDOM_DIGITS + CHECK_DIGITS;

/** A new token from a cryptographic source. */
export function newServiceTokenText(): string {
  const body = serviceTokenPrefix + base62(BigInt(`0x${randomBytes(BYTES).toString('hex')}`), RANDOM_DIGITS);
  return body + checksum(body);
}

/** Whether a text can be a service token. A mistyped or shortened one is recognized without a look at the store. */
export function isServiceTokenText(text: string): boolean {
  if (text.length !== LENGTH || !text.startsWith(serviceTokenPrefix)) return false;
  return checksum(text.slice(0, -CHECK_DIGITS)) === text.slice(-CHECK_DIGITS);
}

/** Digest of a token in the store: the SHA-256 of its text in lower-case hex. A token has 256 random bits, so it needs no salt. */
export const serviceTokenDigest = (text: string): string => hash('sha256', text, 'hex');

const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECK_DIGITS);

/** The number in base62, with leading zeros. */
function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; rest > 0n; rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
