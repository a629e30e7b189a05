/**
 * Texts that come out of a device (product names, reader names, serials) can hold anything: colour codes for the
 * terminal, marks that turn the writing direction, characters that show as nothing and make two names look alike.
 */

/**
 * Control and format characters, separators of lines, lone surrogates; then the fillers and selectors that show as
 * nothing though Unicode calls them letters or marks.
 */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[\u115f\u1160\u3164\uffa0]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]/gu;

/**
 * Makes a text from a device fit to show: characters that control, reorder or hide are removed, each run of white
 * space becomes one space, the ends are trimmed. Null where nothing is left.
 */
export function cleanText(s: string | null | undefined): string | null {
  if (s === null || s === undefined) return null;
  const text = s.replace(/\s+/gu, ' ').replace(UNSAFE, '').replace(/ {2,}/g, ' ').trim();
  return text === '' ? null : text;
}
