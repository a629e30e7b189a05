/** How many cells a text takes in a terminal, and how it is made to fit. Plain ASCII never loads the tables. */

const ascii = /^[\x20-\x7e]*$/;
const ellipsis = '…';

type Measure = (text: string) => number;
const bare: Measure = text => text.length;

/** The measure that is right for these texts (which have been made safe). */
export async function measureFor(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) {
    if (!ascii.test(text)) {
      const { default: stringWidth } = await import('string-width');
      return wide => (ascii.test(wide) ? wide.length : stringWidth(wide));
    }
  }
  return bare;
}

function symbols(text: string): string[] {
  return ascii.test(text) ? [...text] : [...new Intl.Segmenter().segment(text)].map(part => part.segment);
}

function take(parts: readonly string[], cells: number, measure: Measure): string {
  let taken = '';
  let used = 0;
  for (const part of parts) {
    used += measure(part);
    if (used > cells) break;
    taken += part;
  }
  return taken;
}

/** Shortens a text to so many cells: at its end, or in its middle, where both ends tell things apart (serials). */
export function shorten(text: string, cells: number, where: 'end' | 'middle', measure: Measure): string {
  if (measure(text) <= cells) return text;
  if (cells <= 1) return ellipsis.slice(0, Math.max(0, cells));
  const parts = symbols(text);
  if (where === 'end') return take(parts, cells - 1, measure) + ellipsis;
  const tail = Math.floor((cells - 1) / 2);
  const head = cells - 1 - tail;
  const back = [...take([...parts].reverse(), tail, measure)];
  const end = ascii.test(text) ? back.reverse().join('') : symbols(back.join('')).reverse().join('');
  return take(parts, head, measure) + ellipsis + end;
}
