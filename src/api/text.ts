/** What a text may hold, and how it is made comparable before it is measured. */

/** White space at the ends goes. U+FEFF is not white space here: it is refused, and must not slip through at an end. */
const ends = /^[^\S\uFEFF]+|[^\S\uFEFF]+$/g;
const controls = /[\u0000-\u001f\u007f-\u009f]/;
const controlsButBreaks = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Invisible or direction-changing characters; the joiners U+200C and U+200D are needed by scripts and are good. */
const deceptive = /[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/;

/** `line`: one line. `prose`: line feed, carriage return and tab are good. `token`: trimmed, judged elsewhere. `raw`: as it is. */
export type TextKind = 'line' | 'prose' | 'token' | 'raw';

export function trimText(text: string): string {
  return text.replace(ends, '');
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
