/** Colours, only where they are wanted. */
import type { Env } from './io.ts';

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Style = keyof typeof codes;
/** Puts a style on a text that has been made safe. */
export type Paint = (style: Style | null, text: string) => string;

export const plain: Paint = (_, text) => text;
const coloured: Paint = (style, text) => (style === null || text === '' ? text : `\x1b[${codes[style]}m${text}\x1b[0m`);

/** `--no-color` and NO_COLOR say no, CLICOLOR_FORCE says yes, else the terminal decides. */
export function choosePaint(env: Env, isTerminal: boolean, noColor: boolean): Paint {
  if (noColor || env.NO_COLOR) return plain;
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return coloured;
  return isTerminal && env.TERM !== 'dumb' ? coloured : plain;
}

const byStatus: Readonly<Record<string, Style>> = {
  INACTIVE: 'yellow',
  ACTIVE: 'green',
  LOCKED: 'red',
  DEACTIVATED: 'dim',
};

/** The colour of a device's state. */
export const statusStyle = (status: string): Style | null => byStatus[status] ?? null;
