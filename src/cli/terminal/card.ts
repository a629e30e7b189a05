/** Text about one thing, broken between words to fit the terminal. Tables do without, and do not load fast-wrap-ansi. */
import { wrapAnsi } from 'fast-wrap-ansi';
import { width } from './width.ts';

const gap = 2;

/** The lines of a one-line text, broken between words. A word that is wider stays in one piece, so that it can be copied. */
export const wrapped = (text: string, cells: number): string[] =>
  width(text) <= cells ? [text] : wrapAnsi(text, cells, { hard: false, trim: true }).split('\n');

/** A hint of an error. A command at its end gets a line of its own, in one piece, so that it can be copied. */
export function hintLines(hint: string, cells: number): string[] {
  if (width(hint) <= cells) return [hint];
  const [, before, line] = /^(.*?:) (devmgr .*)$/s.exec(hint) ?? [];
  if (before !== undefined && line !== undefined) return [...wrapped(before, cells), line];
  return hint.includes('devmgr ') ? [hint] : wrapped(hint, cells);
}

/** Lines `label: value` that describe one thing; a value that is wider than the room continues below itself. */
export function card(rows: readonly (readonly [label: string, value: string])[], room: number): string {
  const widest = rows.reduce((most, [label]) => Math.max(most, label.length), 0) + gap;
  const value = (text: string) =>
    text
      .split('\n')
      .flatMap(line => wrapped(line, room - widest))
      .join(`\n${' '.repeat(widest)}`);
  return rows.map(([label, text]) => `${`${label}:`.padEnd(widest)}${value(text)}\n`).join('');
}
