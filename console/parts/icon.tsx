/** Icons beside words, and the mark of devmgr. */
import type { IconNode } from 'lucide';
import { h } from 'preact';

export type { IconNode };

/** A path or circle as data of a path, from the origin; null for another shape. */
function dataOf([tag, { d, cx, cy, r = 0, fill }]: IconNode[number]): string | null {
  if (fill) return null;
  if (tag === 'path') return `M0 0${d}`;
  const arc = `a${r} ${r} 0 1 0`;
  return tag === 'circle' ? `M${cx} ${cy}m-${r} 0${arc} ${2 * +r} 0${arc}-${2 * +r} 0` : null;
}

/** An icon in the color of the text. It adds nothing for those who do not see it. Its lines are one element: a page has dozens of icons. */
export const Icon = ({ of }: { readonly of: IconNode }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={of.map(dataOf).join('')} />
    {of.map(node => dataOf(node) === null && h(...node))}
  </svg>
);

/** Drawn once, in index.html. */
const logo = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href;

/** The logo; its name stands beside it. */
export const Logo = () => <span class="logo" style={{ backgroundImage: `url("${logo}")` }} />;
