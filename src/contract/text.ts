/** Which characters a text may contain, and how it is normalized before it is measured. Every function is linear in the length. */

const controls = /[\u0000-\u001f\u007f-\u009f]/;
const controlsButBreaks = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Invisible or direction-changing characters. The joiners U+200C and U+200D are allowed: some scripts need them. */
const deceptive =
  /[\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu;
const everyControl = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * How a text is read. `line`: trimmed, one line. `prose`: trimmed; line feed, carriage return and tab are allowed. `token`:
 * trimmed, its characters are judged by the operation. `raw`: taken exactly as sent.
 */
export type TextKind = 'line' | 'prose' | 'token' | 'raw';

/** Removes white space at both ends. A loop, because a regular expression anchored at the end is quadratic. */
export function trimText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Matches of `\s`, except U+FEFF: that character is refused, so trimming must not remove it first. */
function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code === 0xa0 || code === 0x1680) return true;
  if (code < 0x2000) return false;
  return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000;
}

/** White space beyond this, in UTF-16 units, makes a text too long even if trimming would remove it. */
const SURROUNDING_SPACE = 4096;

/**
 * Whether a text of at most `maxLength` characters may have this length before it is trimmed. A character takes up to two
 * UTF-16 units. Checked before anything reads the characters, so that the cost of a text is bounded by its limit.
 */
export function fitsUntrimmed(text: string, maxLength: number): boolean {
  return text.length <= 2 * maxLength + SURROUNDING_SPACE;
}

/** Fault of the characters of a trimmed text, in words that follow the field's name; null if there is none. */
export function textFault(text: string, kind: TextKind): string | null {
  if (kind === 'token' || kind === 'raw') return null;
  if (!text.isWellFormed()) return 'contains an unpaired surrogate';
  if ((kind === 'line' ? controls : controlsButBreaks).test(text)) return 'contains a control character';
  if (text.search(deceptive) >= 0) return 'contains an invisible or direction-changing character';
  return null;
}

/** The text without the characters that no text may contain, line breaks included. */
export const withoutUnsafe = (text: string): string => text.replace(everyControl, '').replace(deceptive, '');

/** Length in characters (code points). */
export function textLength(text: string): number {
  let length = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) length--;
  }
  return length;
}
