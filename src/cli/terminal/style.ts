/** Colors, only if they are wanted, and the characters that are drawn: ASCII in a locale without UTF-8. */
import type { Env } from '../../contract/local.ts';

const codes = { bold: 1, dim: 2, inverse: 7, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Style = keyof typeof codes;
/** Gives a style to a text that has been made safe; null leaves the text as it is. */
export type Paint = (style: Style | null, text: string) => string;

/** No colors. */
export const plain: Paint = (_, text) => text;
const colored: Paint = (style, text) => (style === null || text === '' ? text : `\x1b[${codes[style]}m${text}\x1b[0m`);

/** `--no-color` and NO_COLOR turn colors off, CLICOLOR_FORCE turns them on, else the terminal decides. */
export function choosePaint(env: Env, isTerminal: boolean, noColor: boolean): Paint {
  if (noColor || env.NO_COLOR) return plain;
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return colored;
  return isTerminal && env.TERM !== 'dumb' ? colored : plain;
}

const byStatus: Readonly<Record<string, Style>> = {
  INACTIVE: 'yellow',
  ACTIVE: 'green',
  LOCKED: 'red',
  DEACTIVATED: 'dim',
};

/** The color of a device's state; null for a state that this version does not know. */
export const statusStyle = (status: string): Style | null => byStatus[status] ?? null;

/** Each has the width of what it replaces, so that columns stay in line. */
const asciiOf: Readonly<Record<string, string>> = {
  '…': '~',
  '█': '#',
  '░': ' ',
  '→': '>',
  '✓': '+',
  '✗': 'x',
  '❯': '>',
  '◉': '*',
  '◯': 'o',
};
const drawn = /[…█░→✓✗❯◉◯]/g;

/** The text with ASCII in place of the characters that this program draws with. */
export const inAscii = (text: string): string => text.replace(drawn, found => asciiOf[found]!);

/**
 * Whether the locale has UTF-8. The first of LC_ALL, LC_CTYPE and LANG that is set decides; without any of them a terminal
 * of today has UTF-8. Windows has it always.
 */
export function hasUtf8(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find(Boolean);
  return platform === 'win32' || locale === undefined || /utf-?8/i.test(locale);
}
