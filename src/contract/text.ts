/** What a text may hold, and how it is made comparable before it is measured. */

const controls = /[\u0000-\u001f\u007f-\u009f]/;
const controlsButBreaks = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Invisible or direction-changing characters; the joiners U+200C and U+200D are needed by scripts and are good. */
const deceptive = /[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/;

/** `line`: one line. `prose`: line feed, carriage return and tab are good. `token`: trimmed, judged elsewhere. `raw`: as it is. */
export type TextKind = 'line' | 'prose' | 'token' | 'raw';

/** Removes white space at both ends. Linear in the length: a regular expression that looks for the end of a text is not. */
export function trimText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** What `\s` matches, except U+FEFF: that character is refused, so trimming must not remove it first. */
function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code === 0xa0 || code === 0x1680) return true;
  if (code < 0x2000) return false;
  return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000;
}

/** White space beyond this, in UTF-16 units, makes a text too long even if trimming would remove it. */
const SURROUNDING_SPACE = 4096;

/**
 * Whether a text of at most `maxLength` characters may be this long before it is trimmed. A character takes up to two UTF-16
 * units. Judged before anything looks at the characters, so that the cost of a text is bounded by its limit.
 */
export function fitsUntrimmed(text: string, maxLength: number): boolean {
  return text.length <= 2 * maxLength + SURROUNDING_SPACE;
}

/** What is wrong with the characters of a trimmed text, in words that follow the field's name; null where nothing is. */
export function textFault(text: string, kind: TextKind): string | null {
  if (kind === 'token' || kind === 'raw') return null;
  if (!text.isWellFormed()) return 'holds half of a surrogate pair';
  if ((kind === 'line' ? controls : controlsButBreaks).test(text)) return 'holds a control character';
  if (deceptive.test(text)) return 'holds an invisible or direction-changing character';
  return null;
}

/** Length in characters (code points). */
export function textLength(text: string): number {
  let length = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) length--;
  }
  return length;
}
