/** Texts of JSON as bytes: where they end, how long they are, and whether they are a certain one. Nothing is allocated. */

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
const PLUS = 0x2b;
export const COMMA = 0x2c;
const ZERO = 0x30;
export const COLON = 0x3a;
export const OPENING_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING_BRACKET = 0x5d;
export const U = 0x75;
const Z = 0x7a;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;
export const NOT_JSON = 'the body is not valid JSON';

/**
 * The position of the closing quote, or a position of at least `limit` if there is no quote before it. Sets `hasNull` of `scan` if the
 * text contains an escaped U+0000; an unescaped one is a control character, which the parser refuses.
 */
export function endOfText(body: Buffer, start: number, limit: number, scan: { hasNull: boolean }): number {
  let at = start;
  for (; at < limit; at++) {
    const symbol = body[at]!;
    if (symbol === QUOTE) break;
    if (symbol !== BACKSLASH) continue;
    at++;
    if (body[at + 1] === ZERO && body[at] === U && isNullUnit(body, at)) scan.hasNull = true;
  }
  return at;
}

const isNullUnit = (body: Buffer, at: number): boolean =>
  body[at + 2] === ZERO && body[at + 3] === ZERO && body[at + 4] === ZERO;

/** The last byte of a number, `true`, `false` or `null`. */
export function endOfWord(body: Buffer, start: number, limit: number): number {
  let at = start;
  for (; at < limit; at++) {
    const symbol = body[at]!;
    // Letters, digits, signs and the point; not brackets, colons, quotes, commas and white space.
    if (symbol < PLUS || symbol > Z || symbol === COMMA || symbol === COLON) break;
    if (symbol === OPENING_BRACKET || symbol === CLOSING_BRACKET) break;
  }
  return at === start ? start : at - 1;
}

/** The code unit of the escape `\uXXXX` at `at`; -1 if there is none. */
function unitAt(body: Buffer, at: number): number {
  if (body[at] !== BACKSLASH || body[at + 1] !== U) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const digit = hexDigit(body[i] ?? 0);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(symbol: number): number {
  if (symbol >= ZERO && symbol <= 0x39) return symbol - ZERO;
  const lower = symbol | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Whether a text has more than `most` characters (code points). Looks at no more of it than that takes. */
export function isLonger(body: Buffer, start: number, end: number, most: number): boolean {
  if (end - start <= most) return false;
  let count = 0;
  let isAfterHigh = false;
  for (let at = start; at < end && count <= most; ) {
    const symbol = body[at]!;
    if (symbol !== BACKSLASH || body[at + 1] !== U) {
      // The later bytes of a character in UTF-8 do not count.
      if ((symbol & 0xc0) !== 0x80) count++;
      at += symbol === BACKSLASH ? 2 : 1;
      isAfterHigh = false;
      continue;
    }
    const half = surrogateAt(body, at + 2);
    if (!isAfterHigh || half !== LOW) count++;
    isAfterHigh = half === HIGH;
    at += 6;
  }
  return count > most;
}

const HIGH = 1;
const LOW = 2;

/** Whether four hexadecimal digits are a high or a low surrogate; 0: neither. */
function surrogateAt(body: Buffer, at: number): number {
  if ((body[at]! | 0x20) !== 0x64) return 0;
  const digit = hexDigit(body[at + 1]!);
  return digit >= 0xc ? LOW : digit >= 8 ? HIGH : 0;
}

/** Whether a text is `wanted`, which consists of letters, digits and `_`; they may be written as `\uXXXX`. */
export function isText(body: Buffer, start: number, end: number, wanted: Buffer): boolean {
  if (end - start < wanted.length) return false;
  let at = start;
  for (let i = 0; i < wanted.length; i++) {
    if (body[at] === wanted[i]) at++;
    else if (unitAt(body, at) === wanted[i]) at += 6;
    else return false;
  }
  return at === end;
}
