/** How wide a text is in a terminal, and how it is made to fit. */
import stringWidth from 'fast-string-width';

const ascii = /^[\x20-\x7e]*$/;
const ellipsis = '…';

/** Cells of a terminal that a text takes. Colors take none. */
export const width = (text: string): number => (ascii.test(text) ? text.length : stringWidth(text));

function symbols(text: string): string[] {
  return ascii.test(text) ? [...text] : [...new Intl.Segmenter().segment(text)].map(part => part.segment);
}

/** As many of the first symbols as fit into this many cells. */
function fitting(parts: readonly string[], cells: number): string[] {
  let used = 0;
  const end = parts.findIndex(part => {
    used += width(part);
    return used > cells;
  });
  return parts.slice(0, end < 0 ? parts.length : end);
}

/** Shortens a text without colors to this many cells: at its end, or in its middle if both ends tell values apart (serials). */
export function shorten(text: string, cells: number, where: 'end' | 'middle'): string {
  if (width(text) <= cells) return text;
  if (cells <= 1) return ellipsis.slice(0, Math.max(0, cells));
  const parts = symbols(text);
  const tail = where === 'end' ? 0 : Math.floor((cells - 1) / 2);
  const start = fitting(parts, cells - 1 - tail);
  const end = fitting([...parts].reverse(), tail).reverse();
  return [...start, ellipsis, ...end].join('');
}
