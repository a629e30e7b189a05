/**
 * Text from a device (product name, reader name, serial) can contain anything: terminal color codes, marks that change
 * the writing direction, invisible characters that make two names look alike.
 */

/**
 * Control and format characters, line separators and lone surrogates; then the fillers and selectors that are invisible
 * although Unicode classes them as letters or marks.
 */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[\u115f\u1160\u3164\uffa0]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Makes device text safe to show: removes characters that control, reorder or hide text, turns each run of white space
 * into one space and trims the ends. Null if nothing is left.
 */
export function cleanText(s: string | null | undefined): string | null {
  if (s === null || s === undefined) return null;
  const text = s.replace(/\s+/gu, ' ').replace(UNSAFE, '').replace(/ {2,}/g, ' ').trim();
  return text === '' ? null : text;
}
