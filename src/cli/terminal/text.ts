/** Makes text from servers, files and devices harmless before it reaches a terminal. */

/**
 * Controls, and characters that reorder text or are invisible: at least those that the daemon refuses in new texts. Joiners
 * stay, because some scripts need them.
 */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

function visible(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? `\\x${point.toString(16).padStart(2, '0')}` : `\\u{${point.toString(16)}}`;
}

/** One line of text, in which characters that could control the terminal are shown as escapes; null stays null. */
export function safe(text: string): string;
export function safe(text: string | null): string | null;
export function safe(text: string | null): string | null {
  return text === null ? null : text.replace(unsafe, visible);
}

/** Text of several lines, made safe likewise; line feeds stay. */
export function safeProse(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, found => (found === '\n' ? found : visible(found)));
}

/** This program itself writes line feeds and tabs. */
const visibleButLayout = (found: string): string => (found === '\n' || found === '\t' ? found : visible(found));
const color = /(\u001b\[[0-9;]*m)/;

/** The last check before text is written, for anything that was not made safe before. Color codes stay if `colored`. */
export function harmless(text: string, colored: boolean): string {
  if (!colored) return text.replace(unsafe, visibleButLayout);
  return text
    .split(color)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(unsafe, visibleButLayout)))
    .join('');
}

const unsafeInJson =
  /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const unitsOf = (symbol: string): string =>
  Array.from({ length: symbol.length }, (_, at) => `\\u${symbol.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
    '',
  );

/** JSON that is harmless on a terminal and parses to the same value. */
export function safeJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(unsafeInJson, unitsOf);
}

const isBreak = (found: string): boolean => found === '\n';

/** Whether the text has nothing that would be escaped; line feeds count as harmless. */
export const isHarmless = (text: string): boolean => (text.match(unsafe) ?? []).every(isBreak);

/** YAML in which all texts with unsafe characters are in double quotes: those are escaped. */
export const safeYaml = (yaml: string): string =>
  yaml.replace(unsafe, found =>
    isBreak(found) ? found : `\\U${(found.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`,
  );

/** The items of a list that a server has sent; none if it has sent something else. */
export const itemsIn = <T>(list: readonly T[] | null | undefined): readonly T[] => (Array.isArray(list) ? list : []);

/** Items of a list that may be malformed, as texts. */
export const textsIn = (list: readonly unknown[] | null | undefined): string[] => itemsIn(list).map(String);

/** A word for the shell. */
export const shellWord = (text: string): string =>
  /^[\w.,:@%+/-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
