/** Makes text that comes from servers, files and devices harmless before it meets a terminal. */

/** Controls, and characters that reorder text or show as nothing. Joiners are needed by scripts and are good. */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

function visible(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? `\\x${point.toString(16).padStart(2, '0')}` : `\\u{${point.toString(16)}}`;
}

/** One line of text: what could steer the terminal is shown as an escape. */
export function safe(text: string): string {
  return text.replace(unsafe, visible);
}

/** The same for text of several lines; line feeds stay. */
export function safeProse(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, found => (found === '\n' ? found : visible(found)));
}

/** Line feeds and tabs stay: this side writes them as well. */
const visibleButLayout = (found: string): string => (found === '\n' || found === '\t' ? found : visible(found));
const colour = /(\u001b\[[0-9;]*m)/;

/** For what is about to be written: escapes that were forgotten where the text was put together. Colours stay where there are any. */
export function harmless(text: string, coloured: boolean): string {
  if (!coloured) return text.replace(unsafe, visibleButLayout);
  return text
    .split(colour)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(unsafe, visibleButLayout)))
    .join('');
}

const unsafeInJson =
  /[\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const unitsOf = (symbol: string): string =>
  Array.from({ length: symbol.length }, (_, at) => `\\u${symbol.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  );

/** JSON that is harmless on a terminal and reads back as the very same value. */
export function safeJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(unsafeInJson, unitsOf);
}
