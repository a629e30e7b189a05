/** How wide a text is in a terminal, and how it is made to fit. */
import { cellsOf } from './cells.ts';

const ascii = /^[\x20-\x7e]*$/;
const ellipsis = '…';

/** Of a text that has been made safe. */
export const width = (text: string): number => (ascii.test(text) ? text.length : cellsOf(text));

function symbols(text: string): string[] {
  return ascii.test(text) ? [...text] : [...new Intl.Segmenter().segment(text)].map(part => part.segment);
}

function take(parts: readonly string[], cells: number): string {
  let taken = '';
  let used = 0;
  for (const part of parts) {
    used += width(part);
    if (used > cells) break;
    taken += part;
  }
  return taken;
}

/** Shortens a text to so many cells: at its end, or in its middle, where both ends tell things apart (serials). */
export function shorten(text: string, cells: number, where: 'end' | 'middle'): string {
  if (width(text) <= cells) return text;
  if (cells <= 1) return ellipsis.slice(0, Math.max(0, cells));
  const parts = symbols(text);
  if (where === 'end') return take(parts, cells - 1) + ellipsis;
  const tail = Math.floor((cells - 1) / 2);
  const head = cells - 1 - tail;
  const back = [...take([...parts].reverse(), tail)];
  const end = ascii.test(text) ? back.reverse().join('') : symbols(back.join('')).reverse().join('');
  return take(parts, head) + ellipsis + end;
}

/** The lines of a text of one line, broken between words where it has to be; a word that is wider stays whole, to be copied. */
export function wrapped(text: string, cells: number): string[] {
  if (width(text) <= cells) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || width(longer) > cells) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
