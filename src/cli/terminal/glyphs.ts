/** What this program draws, in a locale without UTF-8. */
import type { Env } from '../../contract/local.ts';

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
